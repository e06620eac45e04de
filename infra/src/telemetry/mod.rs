//! What the process says of itself: log lines, request spans, figures.
//!
//! Nothing that a person wrote, an agent said or a caller proves itself with stands in any of it: spans and labels hold routes
//! (the pattern, not the path), ids, counts and times. What a panic says is left out for the same reason (the text of a slicing
//! error quotes the string), and only its place is logged.

mod http;
mod logs;
pub mod metrics;
mod panics;

pub use http::observe;
pub use logs::{LogFormat, TelemetryError, is_filter, subscriber};
pub use metrics::{Metrics, metrics_router};
pub use panics::log_panics;

use std::io::IsTerminal as _;

/// Starts telemetry for the process: log lines to standard error, panics to the log, figures to the handle that is returned.
/// Call once, before anything else.
///
/// # Errors
/// [`TelemetryError`] when the filter cannot be read, or telemetry was started before.
pub fn init(filter: &str, format: LogFormat) -> Result<Metrics, TelemetryError> {
    let subscriber = subscriber(filter, format, std::io::stderr().is_terminal(), std::io::stderr)?;
    tracing::subscriber::set_global_default(subscriber).map_err(|_| TelemetryError::Started)?;
    log_panics();
    Metrics::install()
}
