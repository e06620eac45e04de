//! Tests of the whole program: the `stash` binary as a user starts it, asked over HTTP and by its own commands. One binary, so
//! that it is linked once; a module per question.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod archive;
mod bases;
mod bucket;
mod clients;
mod commands;
mod eval;
mod folders;
mod judged;
mod keys;
mod learning;
mod models;
mod openapi;
mod readme;
mod remote;
mod restart;
mod roles;
mod sample;
mod support;
mod tau;
mod tidy;
mod titles;
mod up;
mod watch;
