//! The projections on a real Postgres, filed by question.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod build;
mod build_learning;
mod collecting;
mod erasure;
mod fencing;
mod folds;
mod generate;
mod isolation;
mod learning;
mod live;
mod logs;
mod models;
mod owners;
mod pruning;
mod renewal;
mod submitting;
mod world;
