//! Everything that talks to the outside: the event log, Postgres, the artifact store, keys, configuration, telemetry.

pub mod artifacts;
pub mod bundle;
pub mod event_log;
pub mod postgres;
pub mod seal;
pub mod subject_keys;
pub mod submit;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod watermark;
