//! Commands about reward models.

pub mod create;
