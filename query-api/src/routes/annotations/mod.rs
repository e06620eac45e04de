//! Reads of annotations.

pub(crate) mod get;
