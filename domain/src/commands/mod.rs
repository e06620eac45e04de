//! What a command does: input and the rows it depends on, to events or a rejection. One verb per file; the route of the same
//! name is its twin. Nothing here reads or writes.

pub mod accounts;
pub mod annotations;
pub mod jobs;
pub mod reward_models;
pub mod scoring_runs;
pub mod traces;

use crate::error::Code;

/// Why a command was refused, for the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Rejection {
    /// Stable code.
    pub code: Code,
    /// What was wrong, where, and what to do.
    pub detail: String,
}

impl Rejection {
    /// A rejection.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}
