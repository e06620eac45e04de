//! Reads of reward models.

pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod weights;
