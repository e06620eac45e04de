//! Leases of projections: one process writes the read models, another stands by.

use super::{LEASE_LENGTH, seconds};
use sqlx::PgPool;
use std::time::Duration;

/// What a projector holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectionLease {
    /// The projection: a version of the read models, such as `rm_v1`.
    pub projection: String,
    /// The process's name: unique among running ones.
    pub holder: String,
    /// Grows each time that the holder changes.
    pub epoch: i64,
}

/// The leases of all projections.
#[derive(Clone, Debug)]
pub struct ProjectionLeases {
    pool: PgPool,
    length: Duration,
}

impl ProjectionLeases {
    /// `pool` is that of the system role.
    pub fn new(pool: PgPool) -> Self {
        Self::with_length(pool, LEASE_LENGTH)
    }

    /// Leases of another length, for tests.
    pub fn with_length(pool: PgPool, length: Duration) -> Self {
        Self { pool, length }
    }

    /// Takes the lease if nobody holds it, or its holder was not heard of in time. `None`: another one holds it. Taking one's
    /// own again is a heartbeat and keeps the epoch.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn acquire(&self, projection: &str, holder: &str) -> Result<Option<ProjectionLease>, sqlx::Error> {
        let epoch: Option<i64> = sqlx::query_scalar(include_str!("acquire_projection.sql"))
            .bind(projection)
            .bind(holder)
            .bind(seconds(self.length))
            .fetch_optional(&self.pool)
            .await?;
        Ok(epoch.map(|epoch| ProjectionLease { projection: projection.to_owned(), holder: holder.to_owned(), epoch }))
    }

    /// Says that the holder lives. `false`: another one has taken over, and this one must stop.
    ///
    /// # Errors
    /// Those of the database; the holder goes on and tries again.
    pub async fn heartbeat(&self, lease: &ProjectionLease) -> Result<bool, sqlx::Error> {
        let done = sqlx::query(include_str!("heartbeat_projection.sql"))
            .bind(&lease.projection)
            .bind(&lease.holder)
            .bind(lease.epoch)
            .bind(seconds(self.length))
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives the lease back, so that another one need not wait for its end. Without effect when it is gone.
    ///
    /// # Errors
    /// Those of the database; the lease then expires by itself.
    pub async fn release(&self, lease: &ProjectionLease) -> Result<(), sqlx::Error> {
        sqlx::query(include_str!("release_projection.sql"))
            .bind(&lease.projection)
            .bind(&lease.holder)
            .bind(lease.epoch)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
