//! Rotation of the master key.
//!
//! 1. A new key becomes the first in the file, unless an earlier rotation was not finished: then that one goes on.
//! 2. The database marks all other master keys as retiring. From now on they wrap nothing new; a process that still tries reads
//!    the file again.
//! 3. Their rows are rewrapped in batches, each in a transaction of its own.
//! 4. Master keys without rows leave the database, and then the file.
//!
//! Stopped anywhere, it is run again and goes on: the file has a key as long as a row may need it. The keys of subjects stay the
//! same, so nothing is sealed anew. A backup of the database from before the rotation needs the file from before it.

use super::master::{MasterKey, MasterKeyId};
use super::{KeyError, SubjectKeys, wrap};
use rand::TryRng as _;
use rand::rngs::SysRng;
use stash_domain::ids::{OwnerId, SubjectId};
use uuid::Uuid;

/// Rows of one batch, and so of one transaction: about 100 ms during which a deletion of one of them waits.
const ROWS_PER_BATCH: i64 = 1000;

/// Times that a batch is tried again when it and another transaction wait for each other.
const BATCH_ATTEMPTS: usize = 5;

/// Postgres's code for that (`deadlock_detected`).
const DEADLOCK: &str = "40P01";

/// What a rotation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The master key that wraps everything now.
    pub current: MasterKeyId,
    /// Whether it went on with an earlier rotation instead of making a new key.
    pub resumed: bool,
    /// Rows rewrapped by this call.
    pub rewrapped: u64,
    /// Master keys that left the file.
    pub removed: Vec<MasterKeyId>,
}

/// The place up to which rows were rewrapped.
type Place = (Uuid, Uuid);

impl SubjectKeys {
    /// Replaces the master key and rewraps every row; `progress` gets the number of rows so far after each batch.
    ///
    /// # Errors
    /// [`KeyError`]; call it again to go on.
    pub async fn rotate(&self, mut progress: impl FnMut(u64)) -> Result<Rotation, KeyError> {
        let resumed = !self.reload_masters()?.older().is_empty();
        if !resumed {
            self.0.file.add()?;
        }
        let masters = self.reload_masters()?;
        let current = masters.current();
        self.begin(current.id()).await?;
        let mut rewrapped = 0;
        let mut place = (Uuid::nil(), Uuid::nil());
        while let Some((next, rows)) = self.rewrap_batch_patiently(current, place).await? {
            place = next;
            rewrapped += rows;
            progress(rewrapped);
        }
        let done: Vec<(Uuid,)> = sqlx::query_as(include_str!("finish.sql")).fetch_all(&self.0.pool).await?;
        let needed: Vec<(Uuid,)> = sqlx::query_as(include_str!("../masters.sql")).fetch_all(&self.0.pool).await?;
        debug_assert!(done.iter().all(|id| !needed.contains(id)));
        // Also those whose rows an earlier call moved before it could write the file.
        let removed: Vec<MasterKeyId> =
            masters.older().iter().map(MasterKey::id).filter(|id| !needed.contains(&(id.0,))).collect();
        self.0.file.remove(&removed)?;
        self.reload_masters()?;
        Ok(Rotation { current: current.id(), resumed, rewrapped, removed })
    }

    async fn begin(&self, current: MasterKeyId) -> Result<(), KeyError> {
        let mut transaction = self.0.pool.begin().await?;
        sqlx::query(include_str!("../register_master.sql")).bind(current.0).execute(&mut *transaction).await?;
        sqlx::query(include_str!("begin.sql")).bind(current.0).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn rewrap_batch_patiently(&self, current: &MasterKey, from: Place) -> Result<Option<(Place, u64)>, KeyError> {
        for _ in 1..BATCH_ATTEMPTS {
            match self.rewrap_batch(current, from).await {
                Err(KeyError::Database(sqlx::Error::Database(error))) if error.code().as_deref() == Some(DEADLOCK) => {}
                other => return other,
            }
        }
        self.rewrap_batch(current, from).await
    }

    /// Rewraps the rows from this place on; none when there are no more.
    async fn rewrap_batch(&self, current: &MasterKey, from: Place) -> Result<Option<(Place, u64)>, KeyError> {
        let mut transaction = self.0.pool.begin().await?;
        let rows: Vec<(Uuid, Uuid, Uuid, Vec<u8>)> = sqlx::query_as(include_str!("batch.sql"))
            .bind(from.0)
            .bind(from.1)
            .bind(current.id().0)
            .bind(ROWS_PER_BATCH)
            .fetch_all(&mut *transaction)
            .await?;
        let Some((owner, subject, ..)) = rows.last() else { return Ok(None) };
        let place = (*owner, *subject);
        let mut owners = Vec::with_capacity(rows.len());
        let mut subjects = Vec::with_capacity(rows.len());
        let mut wrapped = Vec::with_capacity(rows.len());
        for (owner, subject, master, old) in &rows {
            wrapped.push(self.rewrap(current, OwnerId(*owner), SubjectId(*subject), MasterKeyId(*master), old)?);
            owners.push(*owner);
            subjects.push(*subject);
        }
        sqlx::query(include_str!("rewrap.sql"))
            .bind(current.id().0)
            .bind(owners)
            .bind(subjects)
            .bind(wrapped)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(Some((place, rows.len() as u64)))
    }

    fn rewrap(
        &self,
        current: &MasterKey,
        owner: OwnerId,
        subject: SubjectId,
        master: MasterKeyId,
        wrapped: &[u8],
    ) -> Result<Vec<u8>, KeyError> {
        let masters = self.masters();
        let old = masters
            .find(master)
            .ok_or_else(|| KeyError::MasterMissing { id: master, path: self.0.file.path().to_owned() })?;
        let root = wrap::unwrap(old, owner, subject, wrapped).ok_or(KeyError::Damaged(subject))?;
        let mut nonce = [0; wrap::WRAP_NONCE_BYTES];
        SysRng.try_fill_bytes(&mut nonce).map_err(|error| KeyError::Random(std::io::Error::other(error)))?;
        let wrapped = wrap::wrap(current, owner, subject, &root, &nonce).ok_or(KeyError::Damaged(subject))?;
        Ok(wrapped.to_vec())
    }
}
