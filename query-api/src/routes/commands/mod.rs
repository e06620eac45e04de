//! What became of commands.

pub(crate) mod get;
