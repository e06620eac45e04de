//! Real services for tests: throw-away Postgres clusters and Kafka brokers, started once per test process and gone with it,
//! however it ends. Feature `testing`.
//!
//! A service that cannot be started fails the test with a text that says what is missing; no test is skipped for it.

mod postgres;

pub use postgres::{Durability, Postgres, postgres};
