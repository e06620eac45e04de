//! Commands about jobs.

pub mod cancel;
