//! Reads of traces.

mod filter;
pub(crate) mod get;
pub(crate) mod list;
