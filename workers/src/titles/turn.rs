//! Whose turn it is: a lock of the database, on a connection of its own. Whoever holds it asks on that connection what is to be
//! done, so that a connection that broke, and the lock with it, is found out before anything is sent.

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};

/// Names the lock among those of the database: "titles" in ASCII.
const LOCK: i64 = 0x7469_746c_6573;

/// The connection that holds the lock, if it is this process's turn.
#[derive(Default)]
pub(super) struct Turn {
    held: Option<PoolConnection<Postgres>>,
}

impl Turn {
    /// The connection that holds the lock; none if another process has it.
    pub(super) async fn take(&mut self, pool: &PgPool) -> Result<Option<&mut PgConnection>, sqlx::Error> {
        if self.held.is_none() {
            let mut connection = pool.acquire().await?;
            let is_ours: bool =
                sqlx::query_scalar(include_str!("try_lock.sql")).bind(LOCK).fetch_one(&mut *connection).await?;
            if !is_ours {
                return Ok(None);
            }
            // With the lock on it, nobody else may get it.
            connection.close_on_drop();
            self.held = Some(connection);
        }
        Ok(self.held.as_deref_mut())
    }

    /// Lets the lock go, with the connection.
    pub(super) fn give_up(&mut self) {
        self.held = None;
    }
}
