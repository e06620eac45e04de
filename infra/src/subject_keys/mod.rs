//! Keys of subjects: one random key for each trace's import, reward model, account; whatever is personal is sealed under one of
//! them (see [`crate::seal`]). Deleting the key erases the content everywhere, backups of it included.
//!
//! ```text
//! master.keys (data folder, mode 0600)        subject_key (Postgres)           memory
//!   master key ──────────── wraps ──────────▶ root (32 random bytes) ── HKDF ─▶ SubjectKey {content, nonce, step id}
//! ```
//!
//! What holds:
//! - [`SubjectKeys::ensure`] returns only keys whose row is committed, and asks the database each time: a key that was shredded,
//!   by whichever process, is never used for something new. Nothing else makes keys: who wants to open, or to add to what is
//!   there, calls [`SubjectKeys::get`] and treats a missing key as erased.
//! - A shredded subject leaves no mark. Made anew, it has another key with another tag, and what was sealed under the earlier
//!   one stays unreadable ([`Opened::Redacted`](stash_domain::sealed::Opened)).
//! - After a shred, this process answers at once that the key is gone. Other processes may hold it for [`CACHE_TTL`] at most,
//!   and can with it only open what they can still find.
//! - Keys never leave this module but as [`SubjectKey`], which shows nothing of itself.

mod cache;
mod error;
mod husks;
mod key;
mod master;
mod master_file;
mod rotate;
mod wrap;

pub use cache::{CACHE_ENTRIES, CACHE_TTL, CacheSize};
pub use error::KeyError;
pub use key::{KEY_BYTES, KEY_TAG_BYTES, SubjectKey};
pub use master::{MASTER_KEYS_MAX, MasterKey, MasterKeyId, MasterKeys};
pub use master_file::{MASTER_KEY_FILE_ENV, MASTER_KEY_FILE_NAME, MasterFileError, MasterKeyFile};
pub use rotate::Rotation;

use async_trait::async_trait;
use cache::Cache;
use rand::TryRng as _;
use rand::rngs::SysRng;
use sqlx::{PgConnection, PgPool};
use stash_domain::ids::{Digest, OwnerId, SubjectId};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use uuid::Uuid;
use zeroize::Zeroizing;

/// Subjects of one statement.
const SUBJECTS_PER_STATEMENT: usize = 4096;

/// Times that [`SubjectKeys::ensure`] tries again because others shredded or rotated meanwhile.
const ENSURE_ATTEMPTS: usize = 8;

/// Where the keys to open content come from.
#[async_trait]
pub trait KeySource: Send + Sync + 'static {
    /// The keys of these subjects. One that is missing from the answer was shredded, or never was.
    ///
    /// # Errors
    /// [`KeyError`].
    async fn get(&self, owner: OwnerId, subjects: &[SubjectId]) -> Result<HashMap<SubjectId, SubjectKey>, KeyError>;

    /// What is left of a blob that was removed after all of its content was erased: a segment of the same frames without their
    /// content. None for any other blob.
    ///
    /// # Errors
    /// [`KeyError`].
    async fn husk(&self, _owner: OwnerId, _blob: Digest) -> Result<Option<Vec<u8>>, KeyError> {
        Ok(None)
    }
}

/// When keys that are made are on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durable {
    /// When the call returns.
    Now,
    /// When anything is that is committed later.
    WithWhatFollows,
}

/// A row: the subject, the id of its master key, its wrapped root.
type Row = (Uuid, Uuid, Vec<u8>);

/// The store of subject keys. Cheap to clone; all clones share one cache.
#[derive(Clone)]
pub struct SubjectKeys(Arc<Store>);

struct Store {
    pool: PgPool,
    file: MasterKeyFile,
    masters: RwLock<Arc<MasterKeys>>,
    cache: Cache,
}

impl SubjectKeys {
    /// Opens the store with the system role's pool. Makes the master key file at first start.
    ///
    /// # Errors
    /// [`KeyError::MasterMissing`] when the file does not have every master key that the database needs, a new file beside an
    /// old database included; [`KeyError`].
    pub async fn open(pool: PgPool, file: MasterKeyFile, cache: CacheSize) -> Result<Self, KeyError> {
        let masters = file.load_or_create()?;
        let needed: Vec<(Uuid,)> = sqlx::query_as(include_str!("masters.sql")).fetch_all(&pool).await?;
        if let Some((id,)) = needed.into_iter().find(|(id,)| masters.find(MasterKeyId(*id)).is_none()) {
            return Err(KeyError::MasterMissing { id: MasterKeyId(id), path: file.path().to_owned() });
        }
        sqlx::query(include_str!("register_master.sql")).bind(masters.current().id().0).execute(&pool).await?;
        let masters = RwLock::new(Arc::new(masters));
        Ok(Self(Arc::new(Store { pool, file, masters, cache: Cache::new(cache) })))
    }

    /// The master keys as this process knows them.
    pub fn masters(&self) -> Arc<MasterKeys> {
        Arc::clone(&self.0.masters.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The keys of these subjects, in the same order; made for those that have none.
    ///
    /// # Errors
    /// [`KeyError`]. Keys may have been made for some of the subjects then.
    pub async fn ensure(&self, owner: OwnerId, subjects: &[SubjectId]) -> Result<Vec<SubjectKey>, KeyError> {
        self.ensure_as(owner, subjects, Durable::Now).await
    }

    /// [`SubjectKeys::ensure`] for what is going to be appended to a log in the same database
    /// ([`EventLog::is_in_database`](crate::event_log::EventLog::is_in_database)): the keys are durable when the append is, and
    /// the disk is waited for once instead of twice. Nothing but that append may rest on them.
    ///
    /// # Errors
    /// As [`SubjectKeys::ensure`].
    pub async fn ensure_with_append(
        &self,
        owner: OwnerId,
        subjects: &[SubjectId],
    ) -> Result<Vec<SubjectKey>, KeyError> {
        self.ensure_as(owner, subjects, Durable::WithWhatFollows).await
    }

    async fn ensure_as(
        &self,
        owner: OwnerId,
        subjects: &[SubjectId],
        durable: Durable,
    ) -> Result<Vec<SubjectKey>, KeyError> {
        let mut distinct = subjects.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let mut keys = HashMap::with_capacity(distinct.len());
        for chunk in distinct.chunks(SUBJECTS_PER_STATEMENT) {
            self.ensure_chunk(owner, chunk, durable, &mut keys).await?;
        }
        // Each subject was found or made above, else there was an error.
        Ok(subjects.iter().filter_map(|subject| keys.get(subject).cloned()).collect())
    }

    /// The keys of these subjects that there are.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn get(
        &self,
        owner: OwnerId,
        subjects: &[SubjectId],
    ) -> Result<HashMap<SubjectId, SubjectKey>, KeyError> {
        let (mut keys, missing) = self.0.cache.find(owner, subjects);
        for chunk in missing.chunks(SUBJECTS_PER_STATEMENT) {
            let shreds = self.0.cache.shreds();
            let found = self.find(owner, chunk).await?;
            self.0.cache.keep(&found, shreds);
            keys.extend(found.into_iter().map(|key| (key.subject(), key)));
        }
        Ok(keys)
    }

    /// Fetches all keys of an owner into the cache, as far as they fit, and returns how many. For rebuilds, which then need no
    /// statement per batch; they choose a [`CacheSize`] for it.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn load_owner(&self, owner: OwnerId) -> Result<u64, KeyError> {
        let mut loaded = 0;
        let mut after = Uuid::nil();
        while loaded < self.0.cache.entries() {
            let shreds = self.0.cache.shreds();
            let page = i64::try_from(SUBJECTS_PER_STATEMENT).unwrap_or(i64::MAX);
            let rows: Vec<Row> = sqlx::query_as(include_str!("page.sql"))
                .bind(owner.0)
                .bind(after)
                .bind(page)
                .fetch_all(&self.0.pool)
                .await?;
            let Some((last, ..)) = rows.last() else { break };
            after = *last;
            let keys = self.unwrap_rows(owner, &rows)?;
            self.0.cache.keep(&keys, shreds);
            loaded += keys.len() as u64;
        }
        Ok(loaded)
    }

    /// Erases these subjects: deletes their keys. Repeating it changes nothing.
    ///
    /// # Errors
    /// [`KeyError::Database`]: perhaps done; repeat it.
    pub async fn shred(&self, owner: OwnerId, subjects: &[SubjectId]) -> Result<(), KeyError> {
        let mut connection = self.0.pool.acquire().await?;
        let shredded = self.shred_in(&mut connection, owner, subjects).await;
        // An error may come after the deletion.
        self.forget(owner, subjects);
        shredded
    }

    /// [`SubjectKeys::shred`] inside the caller's transaction, so that the keys go if and only if it commits. The caller then
    /// calls [`SubjectKeys::forget`], whatever the outcome.
    ///
    /// # Errors
    /// [`KeyError::Database`].
    pub async fn shred_in(
        &self,
        connection: &mut PgConnection,
        owner: OwnerId,
        subjects: &[SubjectId],
    ) -> Result<(), KeyError> {
        for chunk in subjects.chunks(SUBJECTS_PER_STATEMENT) {
            let ids: Vec<Uuid> = chunk.iter().map(|subject| subject.0).collect();
            sqlx::query(include_str!("shred.sql")).bind(owner.0).bind(ids).execute(&mut *connection).await?;
        }
        Ok(())
    }

    /// Erases everything of an owner, and returns the number of keys.
    ///
    /// # Errors
    /// [`KeyError::Database`]: perhaps done; repeat it.
    pub async fn shred_owner(&self, owner: OwnerId) -> Result<u64, KeyError> {
        let shredded = sqlx::query(include_str!("shred_owner.sql")).bind(owner.0).execute(&self.0.pool).await;
        self.0.cache.forget_owner(owner);
        Ok(shredded?.rows_affected())
    }

    /// Drops these keys from the cache of this process.
    pub fn forget(&self, owner: OwnerId, subjects: &[SubjectId]) {
        self.0.cache.forget(owner, subjects);
    }

    async fn ensure_chunk(
        &self,
        owner: OwnerId,
        subjects: &[SubjectId],
        durable: Durable,
        keys: &mut HashMap<SubjectId, SubjectKey>,
    ) -> Result<(), KeyError> {
        let mut missing = subjects.to_vec();
        for _ in 0..ENSURE_ATTEMPTS {
            let shreds = self.0.cache.shreds();
            let mut found = self.insert(owner, &missing, durable).await?;
            let made: Vec<SubjectId> = found.iter().map(SubjectKey::subject).collect();
            missing.retain(|subject| made.binary_search(subject).is_err());
            if !missing.is_empty() {
                found.extend(self.find(owner, &missing).await?);
            }
            self.0.cache.keep(&found, shreds);
            keys.extend(found.into_iter().map(|key| (key.subject(), key)));
            missing.retain(|subject| !keys.contains_key(subject));
            if missing.is_empty() {
                return Ok(());
            }
            // Shredded between the two statements, or our master key is being retired: the file has the new one.
            self.reload_masters()?;
        }
        let id = self.masters().current().id();
        Err(KeyError::MasterRetiring { id, path: self.0.file.path().to_owned() })
    }

    /// Makes keys for those of these subjects (in order, each once) that have none, and returns them in order.
    async fn insert(
        &self,
        owner: OwnerId,
        subjects: &[SubjectId],
        durable: Durable,
    ) -> Result<Vec<SubjectKey>, KeyError> {
        const NEEDED: usize = KEY_BYTES + wrap::WRAP_NONCE_BYTES;
        let masters = self.masters();
        let mut random = Zeroizing::new(vec![0; subjects.len() * NEEDED]);
        SysRng.try_fill_bytes(&mut random).map_err(|error| KeyError::Random(std::io::Error::other(error)))?;
        let mut roots = Vec::with_capacity(subjects.len());
        let mut wrapped = Vec::with_capacity(subjects.len());
        for (subject, random) in subjects.iter().zip(random.chunks_exact(NEEDED)) {
            let mut root = wrap::Root::default();
            let mut nonce = [0; wrap::WRAP_NONCE_BYTES];
            root.copy_from_slice(&random[..KEY_BYTES]);
            nonce.copy_from_slice(&random[KEY_BYTES..]);
            let sealed = wrap::wrap(masters.current(), owner, *subject, &root, &nonce);
            wrapped.push(sealed.ok_or(KeyError::Damaged(*subject))?.to_vec());
            roots.push(root);
        }
        let ids: Vec<Uuid> = subjects.iter().map(|subject| subject.0).collect();
        let made: Vec<(Uuid,)> = sqlx::query_as(include_str!("insert.sql"))
            .bind(owner.0)
            .bind(masters.current().id().0)
            .bind(ids)
            .bind(wrapped)
            .bind(durable == Durable::WithWhatFollows)
            .fetch_all(&self.0.pool)
            .await?;
        let made: std::collections::HashSet<Uuid> = made.into_iter().map(|(id,)| id).collect();
        let kept = subjects.iter().zip(&roots).filter(|(subject, _)| made.contains(&subject.0));
        Ok(kept.map(|(subject, root)| SubjectKey::from_root(owner, *subject, root)).collect())
    }

    async fn find(&self, owner: OwnerId, subjects: &[SubjectId]) -> Result<Vec<SubjectKey>, KeyError> {
        let ids: Vec<Uuid> = subjects.iter().map(|subject| subject.0).collect();
        let rows: Vec<Row> =
            sqlx::query_as(include_str!("find.sql")).bind(owner.0).bind(ids).fetch_all(&self.0.pool).await?;
        self.unwrap_rows(owner, &rows)
    }

    fn unwrap_rows(&self, owner: OwnerId, rows: &[Row]) -> Result<Vec<SubjectKey>, KeyError> {
        let mut masters = self.masters();
        let mut keys = Vec::with_capacity(rows.len());
        for (subject, master, wrapped) in rows {
            let (subject, master) = (SubjectId(*subject), MasterKeyId(*master));
            if masters.find(master).is_none() {
                // Another process has rotated.
                masters = self.reload_masters()?;
            }
            let master = masters
                .find(master)
                .ok_or_else(|| KeyError::MasterMissing { id: master, path: self.0.file.path().to_owned() })?;
            keys.push(wrap::unwrap_key(master, owner, subject, wrapped).ok_or(KeyError::Damaged(subject))?);
        }
        Ok(keys)
    }

    fn reload_masters(&self) -> Result<Arc<MasterKeys>, KeyError> {
        let masters = Arc::new(self.0.file.load()?);
        *self.0.masters.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&masters);
        Ok(masters)
    }
}

#[async_trait]
impl KeySource for SubjectKeys {
    async fn get(&self, owner: OwnerId, subjects: &[SubjectId]) -> Result<HashMap<SubjectId, SubjectKey>, KeyError> {
        Self::get(self, owner, subjects).await
    }

    async fn husk(&self, owner: OwnerId, blob: Digest) -> Result<Option<Vec<u8>>, KeyError> {
        self.find_husk(owner, blob).await
    }
}
