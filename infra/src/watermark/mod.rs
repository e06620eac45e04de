//! How far the read models have got, per partition, and waiting for a position.
//!
//! A projector in the same process moves the marks right after its commit. For a projector elsewhere, [`Watermarks::follow`]
//! listens to its notification and, because a notification may be lost, asks the checkpoint table every
//! [`POLL_INTERVAL`] while anyone waits.
//!
//! No wake-up is lost: a waiter subscribes to the mark's channel first and looks at its value afterwards, and the channel keeps
//! the newest value, so a mark that moves in between is seen.

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use stash_domain::position::{Offset, Partition, Position};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// How often the checkpoint table is asked while anyone waits.
pub const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Channel on which projectors say that they have committed a batch. A hint only: it carries nothing.
pub const APPLIED_CHANNEL: &str = "stash_applied";

/// The marks of all partitions: everything below a mark has been applied.
pub struct Watermarks {
    marks: Vec<watch::Sender<u64>>,
    waiting: AtomicUsize,
    woken: Notify,
}

impl Watermarks {
    /// Marks at 0 for each partition.
    pub fn new(partitions: u16) -> Self {
        Self {
            marks: (0..partitions).map(|_| watch::Sender::new(0)).collect(),
            waiting: AtomicUsize::new(0),
            woken: Notify::new(),
        }
    }

    /// Moves a mark forward: everything below `next` has been applied. A mark never moves back.
    pub fn applied(&self, partition: Partition, next: Offset) {
        if let Some(mark) = self.marks.get(usize::from(partition.0)) {
            mark.send_if_modified(|mark| {
                let moved = next.0 > *mark;
                *mark = (*mark).max(next.0);
                moved
            });
        }
    }

    /// The mark of a partition; 0 for one that the log does not have.
    pub fn of(&self, partition: Partition) -> Offset {
        Offset(self.marks.get(usize::from(partition.0)).map_or(0, |mark| *mark.borrow()))
    }

    /// Waits until the record at this position has been applied. `false`: the time ran out, or the log has no such partition.
    pub async fn wait_for(&self, position: Position, timeout: Duration) -> bool {
        let Some(mark) = self.marks.get(usize::from(position.partition.0)) else { return false };
        let mut seen = mark.subscribe();
        if *seen.borrow_and_update() > position.offset.0 {
            return true;
        }
        let _waiting = Waiting::new(self);
        tokio::time::timeout(timeout, seen.wait_for(|next| *next > position.offset.0))
            .await
            .is_ok_and(|seen| seen.is_ok())
    }

    /// Follows a projector of another process until the future is dropped. Errors of the database are waited out: the marks
    /// then simply stand still, and waiters time out.
    pub async fn follow(&self, pool: PgPool) {
        loop {
            if let Err(error) = self.follow_once(&pool).await {
                tracing::debug!(%error, "cannot follow the projector's checkpoints; trying again");
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }

    async fn follow_once(&self, pool: &PgPool) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(APPLIED_CHANNEL).await?;
        loop {
            self.refresh(pool).await?;
            if self.waiting.load(Ordering::Acquire) == 0 {
                tokio::select! {
                    received = listener.recv() => { received?; }
                    () = self.woken.notified() => {}
                }
            } else {
                let _ = tokio::time::timeout(POLL_INTERVAL, listener.recv()).await;
            }
        }
    }

    /// Reads the checkpoint table once.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn refresh(&self, pool: &PgPool) -> Result<(), sqlx::Error> {
        let rows: Vec<(i32, i64)> = sqlx::query_as(include_str!("checkpoints.sql")).fetch_all(pool).await?;
        for (partition, next) in rows {
            if let (Ok(partition), Ok(next)) = (u16::try_from(partition), u64::try_from(next)) {
                self.applied(Partition(partition), Offset(next));
            }
        }
        Ok(())
    }
}

/// Counts a waiter for as long as it lives, so that the follower polls only while someone waits.
struct Waiting<'a>(&'a Watermarks);

impl<'a> Waiting<'a> {
    fn new(marks: &'a Watermarks) -> Self {
        marks.waiting.fetch_add(1, Ordering::AcqRel);
        marks.woken.notify_one();
        Self(marks)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64) -> Position {
        Position { partition: Partition(1), offset: Offset(offset) }
    }

    #[tokio::test]
    async fn a_position_below_the_mark_is_there_at_once() {
        let marks = Watermarks::new(2);
        marks.applied(Partition(1), Offset(5));
        assert!(marks.wait_for(at(4), Duration::ZERO).await);
        assert!(!marks.wait_for(at(5), Duration::ZERO).await);
    }

    #[tokio::test]
    async fn a_waiter_is_woken_by_the_move_and_a_mark_never_moves_back() {
        let marks = Watermarks::new(2);
        let (woken, ()) = tokio::join!(marks.wait_for(at(9), Duration::from_secs(60)), async {
            marks.applied(Partition(1), Offset(10));
            marks.applied(Partition(1), Offset(3));
        });
        assert!(woken);
        assert_eq!(marks.of(Partition(1)), Offset(10));
    }

    #[tokio::test]
    async fn an_unknown_partition_is_never_reached() {
        assert!(!Watermarks::new(1).wait_for(at(0), Duration::from_secs(60)).await);
    }
}
