//! Artifacts of a store that we serve ourselves, for whoever holds a signed link.

pub(crate) mod get;
