//! Contract of every route that changes something, against a whole server but its port: real keys, the Postgres event log, a
//! projector, the read routes. Exact fields, nulls, success and error codes, repeats, positions, and hostile input.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod support;

mod access;
mod annotations_change;
mod annotations_create;
mod annotations_delete;
mod bodies;
mod hostile;
mod idempotency;
mod import_bodies;
mod imports;
mod judgments;
mod llm_processing;
mod otel;
mod outage;
mod positions;
mod required_titles;
mod reward_models;
mod reward_models_delete;
mod reward_models_rename;
mod scoring;
mod titles;
mod traces_delete;
