//! Extraction: what a judge is asked, what its answers are taken for, and what never becomes a finding or a pair.
//!
//! The judge is a function here. It may be clever, confused or hostile; what is tested is that the rules hold whatever it says.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking, its helper functions too")]

mod evidence;
mod feedback;
mod harvest;
mod judgment;
mod prompts;
mod properties;
mod review;
mod suites;
mod support;
mod targets;
