//! Commands about reward models.

pub mod cancel;
pub mod create;
pub mod delete;
pub mod rename;
