//! The read routes: a folder per resource, a file per verb, the SQL beside it.

pub(crate) mod annotations;
pub(crate) mod artifacts;
pub(crate) mod commands;
pub(crate) mod exports;
pub(crate) mod formats;
pub(crate) mod llm;
pub(crate) mod otel;
pub(crate) mod reward_models;
pub(crate) mod scoring_runs;
pub(crate) mod traces;
