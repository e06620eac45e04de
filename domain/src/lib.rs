//! The pure core of Stash: canonical traces, format adapters, events, the verdict on a record, annotation rules, preference
//! pairs and credit arithmetic.
//!
//! What is absent on purpose: no clock, no randomness, no input or output, no async, no panic. Everything else in Stash is a
//! shell around this crate.

pub mod admit;
pub mod annotation;
pub mod commands;
pub mod error;
pub mod events;
pub mod formats;
pub mod frame;
pub mod ids;
pub mod jobs;
pub mod json;
pub mod learning;
pub mod limits;
pub mod llm;
pub mod otel;
pub mod position;
pub mod record;
pub mod redaction;
pub mod rendering;
pub mod reward;
pub mod sealed;
pub mod seeded;
pub mod time;
pub mod titling;
pub mod trace;
pub mod views;
