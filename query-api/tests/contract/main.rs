//! Contract of every read route: exact fields, nulls, success and error codes, and that nobody ever sees what is another's.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod support;

mod annotations;
mod artifacts;
mod commands;
mod common;
mod exports;
mod formats;
mod isolation;
mod openapi;
mod pairs;
mod reward_models;
mod scoring_runs;
mod trace_detail;
mod trace_filters;
mod trace_list;
