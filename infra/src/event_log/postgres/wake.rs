//! Waking readers: at once within this process, by a notification from another. Hints only: a reader that misses one finds
//! the record when it asks again after [`super::read::POLL_INTERVAL`].
//!
//! A `NOTIFY` takes a lock of the whole server from before the commit until after it. Inside the transaction that appends, it
//! would put the flush to disk of every notifying transaction of every process one behind another. So it is sent after the
//! commit, in a transaction of its own: that one writes nothing, so it flushes nothing, and holds the lock for microseconds.

use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use stash_domain::position::{Offset, Partition, Position};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

/// The channel that processes notify each other on.
const CHANNEL: &str = "stash_log";

/// Shortest time between two notifications of one process: the first of a burst goes out at once, the rest as one.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(10);

/// Wait before listening is tried again after it failed.
const LISTEN_RETRY: Duration = Duration::from_secs(1);

/// What readers wait on.
pub(super) struct Wake {
    /// Per partition, the offset below which this process has appended all.
    heads: Vec<AtomicU64>,
    /// Counts the notices of other processes; they do not say which partitions they mean.
    elsewhere: AtomicU64,
    changed: watch::Sender<()>,
    /// Asks for a notification to other processes.
    notify: Notify,
    /// Asks for the listener: it is started with the first reader.
    listen: Notify,
}

/// What a reader had seen when it began to read.
#[derive(Clone, Copy)]
pub(super) struct Seen(u64);

impl Wake {
    pub(super) fn new(partitions: u16) -> Self {
        Self {
            heads: (0..partitions).map(|_| AtomicU64::new(0)).collect(),
            elsewhere: AtomicU64::new(0),
            changed: watch::Sender::new(()),
            notify: Notify::new(),
            listen: Notify::new(),
        }
    }

    /// Starts the tasks that notify other processes and listen to them. They end when the guard is dropped.
    pub(super) fn start(self: &Arc<Self>, pool: &PgPool) -> DropGuard {
        let stop = CancellationToken::new();
        let process = Uuid::now_v7().to_string();
        let (wake, here, token) = (Arc::clone(self), pool.clone(), stop.clone());
        let name = process.clone();
        tokio::spawn(async move { token.run_until_cancelled(wake.notify_others(here, name)).await });
        // One connection beside the pool, so that listening takes none from it.
        let own = PgPoolOptions::new().max_connections(1).connect_lazy_with(pool.connect_options().as_ref().clone());
        let (wake, token) = (Arc::clone(self), stop.clone());
        tokio::spawn(async move { token.run_until_cancelled(wake.hear_others(own, process)).await });
        stop.drop_guard()
    }

    /// Makes sure that notices of other processes are heard.
    pub(super) fn listen(&self) {
        self.listen.notify_one();
    }

    /// Tells everyone that these positions are now in the log.
    pub(super) fn appended<'a>(&self, positions: impl Iterator<Item = &'a Position>) {
        for position in positions {
            if let Some(head) = self.heads.get(usize::from(position.partition.0)) {
                head.fetch_max(position.offset.next().0, Ordering::Release);
            }
        }
        self.changed.send_replace(());
        self.notify.notify_one();
    }

    /// To be taken before reading, so that what happens during the read is not missed.
    pub(super) fn seen(&self) -> Seen {
        Seen(self.elsewhere.load(Ordering::Acquire))
    }

    /// What to wait on between two looks.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Whether there may be something new at one of these places since then.
    pub(super) fn concerns(&self, seen: Seen, mut places: impl Iterator<Item = (Partition, Offset)>) -> bool {
        self.elsewhere.load(Ordering::Acquire) != seen.0
            || places.any(|(partition, offset)| {
                self.heads.get(usize::from(partition.0)).is_some_and(|head| head.load(Ordering::Acquire) > offset.0)
            })
    }

    fn news_from_elsewhere(&self) {
        self.elsewhere.fetch_add(1, Ordering::Release);
        self.changed.send_replace(());
    }

    async fn notify_others(self: Arc<Self>, pool: PgPool, process: String) {
        loop {
            self.notify.notified().await;
            if let Err(error) = sqlx::query(include_str!("notify.sql")).bind(&process).execute(&pool).await {
                tracing::debug!(%error, "other processes were not notified; they will see the records when they ask");
            }
            tokio::time::sleep(NOTIFY_INTERVAL).await;
        }
    }

    async fn hear_others(self: Arc<Self>, pool: PgPool, process: String) {
        self.listen.notified().await;
        loop {
            if let Err(error) = self.hear(&pool, &process).await {
                tracing::debug!(%error, "notices of other processes are not heard; readers ask on their own");
            }
            tokio::time::sleep(LISTEN_RETRY).await;
        }
    }

    /// Listens until the connection is lost.
    async fn hear(&self, pool: &PgPool, process: &str) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(CHANNEL).await?;
        loop {
            // Whatever was notified before listening began, or while the connection was down, was not heard.
            self.news_from_elsewhere();
            while let Some(notice) = listener.try_recv().await? {
                if notice.payload() != process {
                    self.news_from_elsewhere();
                }
            }
        }
    }
}
