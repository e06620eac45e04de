//! From a key's text to who calls.

use super::Identity;
use super::accounts::Role;
use super::error::IdentityError;
use super::key_text;
use super::keys::Scope;
use moka::future::Cache;
use stash_domain::ids::{ApiKeyId, OwnerId};
use stash_domain::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

/// How long a looked-up key is used without asking the database again. So long may a key work after it was revoked by another
/// process: short enough for that, long enough that a busy caller costs one look-up in many thousand requests.
pub const CACHE_TTL: Duration = Duration::from_secs(3);

/// Keys remembered at once, unknown ids included: about 300 bytes each.
const CACHE_KEYS_MAX: u64 = 10_000;

/// Who makes a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The account, and so the owner of what is made and the only one whose things are seen.
    pub owner_id: OwnerId,
    /// The key it came with.
    pub api_key_id: ApiKeyId,
    /// What the key may do.
    pub scope: Scope,
    /// What the account may do.
    pub role: Role,
    /// Whether the account may use reward models.
    pub reward_models_enabled: bool,
    /// The account's name for people; may be empty.
    pub name: String,
}

/// What is remembered of a key.
#[derive(Debug)]
pub(super) struct Known {
    hash: [u8; 32],
    caller: Caller,
    expires_at_us: Option<i64>,
    /// Whether the table is to be told that the key is in use; once per look-up.
    note_use: AtomicBool,
}

/// Keys by id; `None` for an id that does not work, so that a flood of requests with one dead key stays off the database.
pub(super) type KeyCache = Cache<Uuid, Option<Arc<Known>>>;

pub(super) fn new_cache() -> KeyCache {
    Cache::builder().max_capacity(CACHE_KEYS_MAX).time_to_live(CACHE_TTL).support_invalidation_closures().build()
}

/// A row of `api_key` with its account.
#[derive(sqlx::FromRow)]
struct Row {
    account_id: Uuid,
    scope: String,
    hash: Vec<u8>,
    expires_at_us: Option<i64>,
    used_lately: bool,
    role: String,
    reward_models_enabled: bool,
    name: String,
}

/// The key could not be looked up. Shared by all who waited for the same look-up.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct LookUpError(pub Arc<IdentityError>);

impl Identity {
    /// Who calls with this key; `None` when it is unknown, revoked, expired or no key at all, which are not told apart.
    ///
    /// # Errors
    /// [`LookUpError`] when the database must be asked and does not answer.
    pub async fn authenticate(&self, key: &str) -> Result<Option<Caller>, LookUpError> {
        let Some((id, hash)) = key_text::parse(key) else { return Ok(None) };
        let looked_up = self.cache.try_get_with(id.0, self.look_up(id)).await.map_err(LookUpError)?;
        let Some(known) = looked_up else { return Ok(None) };
        let matches: bool = known.hash.ct_eq(&hash).into();
        let now = self.clock.now();
        let expired = known.expires_at_us.is_some_and(|expires| expires <= now.0);
        if !matches || expired {
            return Ok(None);
        }
        if known.note_use.swap(false, Ordering::AcqRel) {
            self.note_use(id, now);
        }
        Ok(Some(known.caller.clone()))
    }

    async fn look_up(&self, id: ApiKeyId) -> Result<Option<Arc<Known>>, IdentityError> {
        let row: Option<Row> = sqlx::query_as(include_str!("find_key.sql"))
            .bind(id.0)
            .bind(self.clock.now().0)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let caller = Caller {
            owner_id: OwnerId(row.account_id),
            api_key_id: id,
            scope: Scope::parse(&row.scope).ok_or(IdentityError::Damaged("scope"))?,
            role: Role::parse(&row.role)?,
            reward_models_enabled: row.reward_models_enabled,
            name: row.name,
        };
        let hash = row.hash.try_into().map_err(|_| IdentityError::Damaged("hash"))?;
        let note_use = AtomicBool::new(!row.used_lately);
        Ok(Some(Arc::new(Known { hash, caller, expires_at_us: row.expires_at_us, note_use })))
    }

    /// Notes that the key is in use, to the hour, beside the request: a full disk must not lock everybody out. At most one such
    /// statement runs per key and look-up.
    fn note_use(&self, id: ApiKeyId, now: Timestamp) {
        let pool = self.pool.clone();
        tokio::spawn(async move {
            let noted = sqlx::query(include_str!("touch_key.sql")).bind(id.0).bind(now.0).execute(&pool).await;
            if let Err(error) = noted {
                tracing::debug!(%error, "could not note that an API key is in use");
            }
        });
    }

    /// Looks a key up anew next time.
    pub(super) async fn forget_key(&self, key: ApiKeyId) {
        self.cache.invalidate(&key.0).await;
    }

    /// Looks the account's keys up anew next time.
    pub(super) fn forget_account(&self, account: OwnerId) {
        let of_account = move |_: &Uuid, known: &Option<Arc<Known>>| {
            known.as_ref().is_some_and(|known| known.caller.owner_id == account)
        };
        if let Err(error) = self.cache.invalidate_entries_if(of_account) {
            tracing::debug!(%error, "an account's keys stay cached until they expire");
        }
    }
}
