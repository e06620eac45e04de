//! Reads that many requests make at the same time, answered by few transactions.
//!
//! A transaction of one owner costs a busy server three round trips, whatever it reads. Under load the keys that come while
//! one transaction runs are therefore looked up by the next, together:
//!
//! ```text
//! request ── key ──▶ waiting of its owner ──▶ one transaction ──▶ answer to each
//!                       ▲                          │
//!                       └── keys that came meanwhile┘
//! ```
//!
//! 1. A key is looked up in a snapshot that begins after it was asked for, so what a request has waited for is seen.
//! 2. A transaction reads for one owner, under row-level security like any other.
//! 3. At most [`KEYS_MAX`] keys go together, and per owner one transaction runs at a time. Bounded by the requests in flight.
//! 4. When a transaction fails, each of its requests reads for itself and gets its own error.

use super::owner_scope::OwnerTx;
use sqlx::{PgConnection, PgPool};
use stash_domain::ids::OwnerId;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// Keys that are looked up together at most.
pub const KEYS_MAX: usize = 256;

/// Things that were found, each with the key that names it.
pub type FoundByKey<L> = Vec<(<L as Lookup>::Key, <L as Lookup>::Found)>;

/// How things of one kind are found.
pub trait Lookup: Sized + Send + Sync + 'static {
    /// What names one.
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    /// What is found.
    type Found: Clone + Send + 'static;

    /// Finds those of the keys that there are, in any order.
    fn find(
        connection: &mut PgConnection,
        owner: OwnerId,
        keys: &[Self::Key],
    ) -> impl Future<Output = Result<FoundByKey<Self>, sqlx::Error>> + Send;
}

/// Reads of one kind. Cheap to clone.
pub struct Grouped<L: Lookup>(Arc<Inner<L>>);

impl<L: Lookup> Clone for Grouped<L> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Inner<L: Lookup> {
    pool: PgPool,
    /// An owner is here while a task reads for it.
    waiting: Mutex<HashMap<OwnerId, Vec<Asked<L>>>>,
}

/// A key and who asked for it.
struct Asked<L: Lookup> {
    key: L::Key,
    answer: oneshot::Sender<Option<L::Found>>,
}

impl<L: Lookup> Grouped<L> {
    /// Reads through this pool, [`super::Pools::api`].
    pub fn new(pool: PgPool) -> Self {
        Self(Arc::new(Inner { pool, waiting: Mutex::default() }))
    }

    /// Finds one thing of an owner.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn find(&self, owner: OwnerId, key: L::Key) -> Result<Option<L::Found>, sqlx::Error> {
        match self.ask(owner, key.clone()).await {
            Ok(found) => Ok(found),
            Err(_) => self.find_alone(owner, key).await,
        }
    }

    /// Resolves to an error when the transaction failed.
    fn ask(&self, owner: OwnerId, key: L::Key) -> oneshot::Receiver<Option<L::Found>> {
        let (answer, receiver) = oneshot::channel();
        let asked = Asked { key, answer };
        let mut waiting = self.0.lock();
        if let Some(others) = waiting.get_mut(&owner) {
            others.push(asked);
        } else {
            waiting.insert(owner, vec![asked]);
            let work = Work { inner: Arc::clone(&self.0), owner, ended: false };
            tokio::spawn(work.run());
        }
        receiver
    }

    async fn find_alone(&self, owner: OwnerId, key: L::Key) -> Result<Option<L::Found>, sqlx::Error> {
        let mut transaction = OwnerTx::begin(&self.0.pool, owner).await?;
        let found = L::find(&mut transaction, owner, &[key]).await?;
        Ok(found.into_iter().next().map(|(_, found)| found))
    }
}

impl<L: Lookup> Inner<L> {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<OwnerId, Vec<Asked<L>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads for one owner until nobody asks.
struct Work<L: Lookup> {
    inner: Arc<Inner<L>>,
    owner: OwnerId,
    /// Whether it has left the map; another may be there for the same owner since.
    ended: bool,
}

impl<L: Lookup> Work<L> {
    async fn run(mut self) {
        while let Some(group) = self.take() {
            // A dropped sender tells its request that it reads for itself.
            if let Err(error) = self.answer(group).await {
                tracing::debug!(%error, "a grouped read failed; its requests read for themselves");
            }
        }
    }

    /// What is asked for now; none ends the work, and the next to ask begins it anew.
    fn take(&mut self) -> Option<Vec<Asked<L>>> {
        let mut waiting = self.inner.lock();
        let asked = waiting.get_mut(&self.owner)?;
        if asked.is_empty() {
            waiting.remove(&self.owner);
            self.ended = true;
            return None;
        }
        let rest = asked.split_off(asked.len().min(KEYS_MAX));
        Some(std::mem::replace(asked, rest))
    }

    async fn answer(&self, group: Vec<Asked<L>>) -> Result<(), sqlx::Error> {
        let mut transaction = OwnerTx::begin(&self.inner.pool, self.owner).await?;
        let keys: Vec<L::Key> = group.iter().map(|asked| asked.key.clone()).collect();
        let found: HashMap<L::Key, L::Found> =
            L::find(&mut transaction, self.owner, &keys).await?.into_iter().collect();
        for asked in group {
            // A request that has gone away wants no answer.
            let _ = asked.answer.send(found.get(&asked.key).cloned());
        }
        Ok(())
    }
}

/// Should the task end early (a panic in a lookup, the runtime's end), nobody may wait for it for ever.
impl<L: Lookup> Drop for Work<L> {
    fn drop(&mut self) {
        if !self.ended {
            self.inner.lock().remove(&self.owner);
        }
    }
}
