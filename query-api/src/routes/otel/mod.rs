//! What was sent live.

pub(crate) mod pending;
