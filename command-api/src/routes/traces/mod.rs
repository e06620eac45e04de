//! Commands about traces.

pub mod delete;
pub mod import;
pub mod score;
