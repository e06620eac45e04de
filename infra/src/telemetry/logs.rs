//! Log lines.

use tracing::Subscriber;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::{EnvFilter, fmt};

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Telemetry could not be started.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter is not in the form that RUST_LOG has.
    #[error(
        "RUST_LOG: {0}; expected a level (error, warn, info, debug, trace) or a list such as info,stash_infra=debug"
    )]
    Filter(String),
    /// It was started before.
    #[error("telemetry was started twice")]
    Started,
}

/// A subscriber that writes the lines that pass the filter. Colours only where a person sees them.
///
/// # Errors
/// [`TelemetryError::Filter`].
pub fn subscriber<W>(
    filter: &str,
    format: LogFormat,
    colours: bool,
    writer: W,
) -> Result<Box<dyn Subscriber + Send + Sync>, TelemetryError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let filter = EnvFilter::builder().parse(filter).map_err(|error| TelemetryError::Filter(error.to_string()))?;
    // A line that cannot be written, because the disk of the log is full, is dropped: saying so on standard error, which then is
    // that same log, would be a panic for each line.
    let lines =
        fmt().with_env_filter(filter).with_writer(writer).with_span_events(FmtSpan::NONE).log_internal_errors(false);
    Ok(match format {
        LogFormat::Text => Box::new(lines.with_ansi(colours).finish()),
        LogFormat::Json => Box::new(lines.json().flatten_event(true).with_span_list(false).finish()),
    })
}

/// Whether a text is a filter that [`subscriber`] takes.
pub fn is_filter(text: &str) -> bool {
    EnvFilter::builder().parse(text).is_ok()
}
