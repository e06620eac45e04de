//! Commands about traces.

pub mod delete;
