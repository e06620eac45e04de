//! OpenTelemetry requests.

pub mod logs;
pub mod traces;
