//! The projections on a real Postgres, filed by question.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod build;
mod collecting;
mod erasure;
mod fencing;
mod folds;
mod generate;
mod isolation;
mod live;
mod logs;
mod owners;
mod pruning;
mod renewal;
mod submitting;
mod world;
