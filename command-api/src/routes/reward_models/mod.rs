//! Commands about reward models.

pub mod cancel;
pub mod create;
