//! Everything that talks to the outside: the event log, Postgres, the artifact store, keys, configuration, telemetry, language models.

pub mod artifacts;
pub mod bundle;
pub mod clock;
pub mod config;
pub mod event_log;
pub mod http;
pub mod identity;
pub mod lease;
pub mod llm;
pub mod postgres;
pub mod seal;
pub mod subject_keys;
pub mod submit;
pub mod telemetry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod titles;
pub mod watermark;
