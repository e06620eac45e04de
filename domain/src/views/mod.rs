//! Folds: a row and an event give the next row. The projector and replays to an earlier moment share them.
//!
//! Each fold is total and sees the events of one thing in their order in the log. None means that there is no row.

pub mod annotation;
pub mod curve;
pub mod job;
pub mod judgment;
pub mod reward_model;
pub mod scoring_run;

use crate::time::Timestamp;

/// What a fold may know of an event besides its payload.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// When the command was made; all times in read models come from it, so that a rebuild gives the same rows.
    pub recorded_at: Timestamp,
}
