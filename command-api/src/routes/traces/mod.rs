//! Commands about traces.

pub mod delete;
pub mod edit;
pub mod import;
pub mod score;
pub mod title;
