//! Leases of jobs. The attempt number fences: whoever holds an older attempt has lost, whatever it still does.

use super::{LEASE_LENGTH, seconds};
use sqlx::PgPool;
use stash_domain::ids::{JobId, OwnerId};
use std::time::Duration;
use uuid::Uuid;

/// What a worker holds of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLease {
    /// The job.
    pub job_id: JobId,
    /// Whose job it is.
    pub owner_id: OwnerId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The worker's name: unique among running ones.
    pub worker: String,
}

/// A lease whose worker was not heard of in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiredLease {
    /// The job.
    pub job_id: JobId,
    /// Whose job it is.
    pub owner_id: OwnerId,
    /// The attempt that counts as lost.
    pub attempt: u32,
}

/// The leases of all jobs.
#[derive(Clone, Debug)]
pub struct JobLeases {
    pool: PgPool,
    length: Duration,
}

impl JobLeases {
    /// `pool` is that of the system role.
    pub fn new(pool: PgPool) -> Self {
        Self::with_length(pool, LEASE_LENGTH)
    }

    /// Leases of another length, for tests.
    pub fn with_length(pool: PgPool, length: Duration) -> Self {
        Self { pool, length }
    }

    /// Takes the lease of an attempt that the log has given to this worker. `false`: a later attempt, or another worker of the
    /// same one, holds it, and this worker must stop. Taking it again is a heartbeat.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn acquire(&self, lease: &JobLease) -> Result<bool, sqlx::Error> {
        let done = sqlx::query(include_str!("acquire_job.sql"))
            .bind(lease.job_id.0)
            .bind(lease.owner_id.0)
            .bind(attempt_to_sql(lease.attempt))
            .bind(&lease.worker)
            .bind(seconds(self.length))
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Says that the worker lives. `false`: the lease is gone (expired and reaped, or taken by a later attempt), and the worker
    /// must stop.
    ///
    /// # Errors
    /// Those of the database; the worker goes on and tries again, since the lease outlives several heartbeats.
    pub async fn heartbeat(&self, lease: &JobLease) -> Result<bool, sqlx::Error> {
        let done = sqlx::query(include_str!("heartbeat_job.sql"))
            .bind(lease.job_id.0)
            .bind(attempt_to_sql(lease.attempt))
            .bind(&lease.worker)
            .bind(seconds(self.length))
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives the lease back when the attempt has ended. Without effect when it is gone.
    ///
    /// # Errors
    /// Those of the database; the lease then expires by itself.
    pub async fn release(&self, lease: &JobLease) -> Result<(), sqlx::Error> {
        sqlx::query(include_str!("release_job.sql"))
            .bind(lease.job_id.0)
            .bind(attempt_to_sql(lease.attempt))
            .bind(&lease.worker)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Leases that have expired, longest first, at most `max`. They stay until [`JobLeases::reap`], which follows the event that
    /// tells the log.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn expired(&self, max: u32) -> Result<Vec<ExpiredLease>, sqlx::Error> {
        let rows: Vec<(Uuid, Uuid, i32)> =
            sqlx::query_as(include_str!("expired_jobs.sql")).bind(i64::from(max)).fetch_all(&self.pool).await?;
        Ok(rows
            .into_iter()
            .map(|(job, owner, attempt)| ExpiredLease {
                job_id: JobId(job),
                owner_id: OwnerId(owner),
                attempt: attempt.unsigned_abs(),
            })
            .collect())
    }

    /// Removes an expired lease. `false`: a heartbeat came after all, or it was removed already.
    ///
    /// # Errors
    /// Those of the database; it is found expired again later.
    pub async fn reap(&self, lease: &ExpiredLease) -> Result<bool, sqlx::Error> {
        let done = sqlx::query(include_str!("reap_job.sql"))
            .bind(lease.job_id.0)
            .bind(attempt_to_sql(lease.attempt))
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Whether an attempt of this job has a lease that has not expired.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn is_held(&self, job: JobId) -> Result<bool, sqlx::Error> {
        sqlx::query_scalar(include_str!("is_job_held.sql")).bind(job.0).fetch_one(&self.pool).await
    }
}

/// Attempts are few; one beyond the column's range could not have been claimed.
fn attempt_to_sql(attempt: u32) -> i32 {
    i32::try_from(attempt).unwrap_or(i32::MAX)
}
