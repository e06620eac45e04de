//! Commands about annotations.

pub mod change;
pub mod create;
pub mod delete;
