//! API keys: made, listed, revoked.

use super::Identity;
use super::accounts::checked_name;
use super::change::Change;
use super::error::IdentityError;
use super::key_text::{self, KeyText};
use stash_domain::events::{ApiKeyCreated, ApiKeyRevoked};
use stash_domain::ids::{ApiKeyId, OwnerId};
use stash_domain::time::Timestamp;
use uuid::Uuid;

/// Keys of one account that work at the same time.
const KEYS_PER_ACCOUNT_MAX: i64 = 1000;

/// Keys that one list returns: those that work, and the latest of those that do not.
const LIST_MAX: i64 = 2000;

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything that its account may.
    Full,
    /// Read and query.
    ReadOnly,
}

impl Scope {
    /// As it stands in tables, events and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::ReadOnly => "read-only",
        }
    }

    /// Reads it, as a person writes it on the command line too.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "full" => Some(Self::Full),
            "read-only" => Some(Self::ReadOnly),
            _ => None,
        }
    }
}

/// A key as it is listed: nothing of its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// Whose it is.
    pub account_id: OwnerId,
    /// What it may do.
    pub scope: Scope,
    /// A name for people; may be empty.
    pub name: String,
    /// The start of its text.
    pub shown: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the hour.
    pub last_used_at: Option<Timestamp>,
    /// When it stops working by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// A key to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// Whose.
    pub account_id: OwnerId,
    /// What it may do.
    pub scope: Scope,
    /// A name for people; may be empty.
    pub name: String,
    /// When it stops working by itself; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// A row of `api_key`, without the hash.
#[derive(sqlx::FromRow)]
struct Row {
    id: Uuid,
    account_id: Uuid,
    scope: String,
    name: String,
    shown: String,
    created_at_us: i64,
    last_used_at_us: Option<i64>,
    expires_at_us: Option<i64>,
    revoked_at_us: Option<i64>,
}

impl Row {
    fn into_key(self) -> Result<ApiKey, IdentityError> {
        Ok(ApiKey {
            id: ApiKeyId(self.id),
            account_id: OwnerId(self.account_id),
            scope: Scope::parse(&self.scope).ok_or(IdentityError::Damaged("scope"))?,
            name: self.name,
            shown: self.shown,
            created_at: Timestamp(self.created_at_us),
            last_used_at: self.last_used_at_us.map(Timestamp),
            expires_at: self.expires_at_us.map(Timestamp),
            revoked_at: self.revoked_at_us.map(Timestamp),
        })
    }
}

impl Identity {
    /// Makes a key. Its text is returned here and nowhere else.
    ///
    /// # Errors
    /// [`IdentityError::NoAccount`], [`IdentityError::TooManyKeys`], [`IdentityError::AlreadyExpired`] and others.
    pub async fn create_key(&self, new: &NewKey) -> Result<(KeyText, ApiKey, Change), IdentityError> {
        let name = checked_name(&new.name)?;
        let now = self.clock.now();
        if new.expires_at.is_some_and(|expires| expires <= now) {
            return Err(IdentityError::AlreadyExpired);
        }
        let id = ApiKeyId(Uuid::new_v4());
        let text = KeyText::generate(id)?;
        let (_, hash) = key_text::parse(text.expose()).ok_or(IdentityError::Damaged("key"))?;
        let mut transaction = self.pool.begin().await?;
        // Also locks the account, so that two makers at once cannot both take the last place.
        let working: Option<i64> = sqlx::query_scalar(include_str!("count_keys.sql"))
            .bind(new.account_id.0)
            .bind(now.0)
            .fetch_optional(&mut *transaction)
            .await?;
        match working {
            None => return Err(IdentityError::NoAccount),
            Some(count) if count >= KEYS_PER_ACCOUNT_MAX => return Err(IdentityError::TooManyKeys(count)),
            Some(_) => {}
        }
        let row: Row = sqlx::query_as(include_str!("insert_key.sql"))
            .bind(id.0)
            .bind(new.account_id.0)
            .bind(new.scope.as_str())
            .bind(name)
            .bind(text.shown())
            .bind(hash)
            .bind(now.0)
            .bind(new.expires_at.map(|time| time.0))
            .fetch_one(&mut *transaction)
            .await?;
        let event = ApiKeyCreated { api_key_id: id, account_id: new.account_id, scope: new.scope.as_str().to_owned() };
        let change = Change::record(&mut transaction, new.account_id, event.into()).await?;
        transaction.commit().await?;
        Ok((text, row.into_key()?, change))
    }

    /// Revokes a key of this account. `None`: there is no such key, or it is revoked already. It stops working within
    /// [`super::CACHE_TTL`], in this process mostly at once.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub async fn revoke_key(&self, account: OwnerId, key: ApiKeyId) -> Result<Option<Change>, IdentityError> {
        let mut transaction = self.pool.begin().await?;
        let done = sqlx::query(include_str!("revoke_key.sql"))
            .bind(key.0)
            .bind(account.0)
            .bind(self.clock.now().0)
            .execute(&mut *transaction)
            .await?;
        if done.rows_affected() == 0 {
            return Ok(None);
        }
        let change = Change::record(&mut transaction, account, ApiKeyRevoked { api_key_id: key }.into()).await?;
        transaction.commit().await?;
        self.forget_key(key).await;
        Ok(Some(change))
    }

    /// The keys of an account, the newest first: revoked and expired ones too, 2,000 at most.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub async fn keys(&self, account: OwnerId) -> Result<Vec<ApiKey>, IdentityError> {
        let rows: Vec<Row> =
            sqlx::query_as(include_str!("list_keys.sql")).bind(account.0).bind(LIST_MAX).fetch_all(&self.pool).await?;
        rows.into_iter().map(Row::into_key).collect()
    }
}
