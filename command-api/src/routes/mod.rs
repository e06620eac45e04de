//! One file per verb; each is the twin of a decision in `stash_domain::commands`.

pub mod annotations;
pub mod llm;
pub mod otel;
pub mod reward_models;
pub mod traces;
