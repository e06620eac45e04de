//! The import formats.

pub(crate) mod list;
