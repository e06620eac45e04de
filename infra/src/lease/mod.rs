//! Leases: who works on what, and is still alive.
//!
//! The log decides who *may* work on a job (its claim names the attempt) and the checkpoint who may write a read model (its
//! epoch). A lease only says that whoever it is has been heard of lately. So a lease that is lost, late or wrong costs time and
//! never correctness, and leases need no backup.
//!
//! Times are the database's own, so the clocks of workers do not matter. A holder sends a heartbeat every [`HEARTBEAT_EVERY`]; a
//! lease without one for [`LEASE_LENGTH`] has expired.

mod jobs;
mod projections;

pub use jobs::{ExpiredLease, JobLease, JobLeases};
pub use projections::{ProjectionLease, ProjectionLeases};

use std::time::Duration;

/// How often a holder sends a heartbeat: a lease survives five that are lost.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(10);

/// How long a lease lasts after a heartbeat.
pub const LEASE_LENGTH: Duration = Duration::from_secs(60);

/// A length as the statements take it.
fn seconds(length: Duration) -> f64 {
    length.as_secs_f64()
}
