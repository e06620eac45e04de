//! Reads of scoring runs.

pub(crate) mod get;
