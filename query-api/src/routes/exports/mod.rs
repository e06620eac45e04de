//! Exports: JSON lines of any length, streamed with constant memory out of one snapshot.

pub(crate) mod annotations;
pub(crate) mod pairs;
mod targets;
mod texts;
pub(crate) mod traces;
