//! What tests of several crates share. Real services: throw-away Postgres clusters and Kafka brokers, started once per test process and gone with it,
//! however it ends. A server of language models that answers by script, and one that speaks S3, in the test's own process. And a
//! check of answers against the API description. Feature `testing`.
//!
//! A service that cannot be started fails the test with a text that says what is missing; no test is skipped for it.

mod kafka;
pub mod llm;
mod postgres;
mod s3;
mod schema;

pub use kafka::{Kafka, kafka};
pub use postgres::{Durability, Postgres, postgres};
pub use s3::S3Server;
pub use schema::assert_fits;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Starts a process that cleans up once this one is gone: however a process dies, its end of the pipe closes then.
fn leash(mut janitor: Command) -> (Child, ChildStdin) {
    // In a group of its own, so that Ctrl-C in the terminal does not end it before its work is done.
    janitor.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
    let mut janitor = made(janitor.spawn(), "the process that cleans up");
    match janitor.stdin.take() {
        Some(leash) => (janitor, leash),
        None => panic!("the process that cleans up has no input"),
    }
}

/// The value, or a failed test that names what could not be had.
#[track_caller]
fn made<T, E: std::fmt::Display>(outcome: Result<T, E>, what: &str) -> T {
    match outcome {
        Ok(value) => value,
        Err(error) => panic!("{what} could not be had: {error}"),
    }
}
