//! Everything that talks to the outside: the event log, Postgres, the artifact store, keys, configuration, telemetry.

pub mod event_log;
pub mod submit;
pub mod watermark;
