//! OTLP in JSON, as the specification has it and as exporters write it.
//!
//! Names of fields may be written `lowerCamelCase`, `snake_case` or as fields of Go structs are: they are compared in lower
//! case and without underscores. Unknown fields are ignored. The envelope is walked, never held: see [`walk`].

mod any_value;
mod log;
mod row;
mod span;
pub(crate) mod walk;

pub(crate) use row::is_row;

use super::{OtelLog, OtelSpan};
use crate::formats::common::cursor::{Cursor, CursorError};
use crate::formats::common::fault::Fault;
use crate::formats::common::source::Source;
use crate::formats::{Issue, ReadError};
use walk::Walk;

/// Faults that a decoding lists one by one; beyond, they are only counted.
pub const FAULTS_LISTED_MAX: usize = 100;

/// What an envelope holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Spans, in their order. One may stand there twice.
    pub spans: Vec<OtelSpan>,
    /// Log records that belong to a span and may tell of its messages.
    pub logs: Vec<OtelLog>,
    /// Spans left out, each with its reason: the first [`FAULTS_LISTED_MAX`] of them.
    pub faults: Vec<String>,
    /// Spans left out in all.
    pub faults_count: u64,
    /// All other log records.
    pub logs_ignored: u64,
}

/// Why an envelope cannot be decoded at all.
#[derive(Debug, thiserror::Error)]
#[error("not OTLP in JSON: {0}")]
pub struct DecodeError(String);

/// Decodes a request of OTLP/JSON, or any number of them one after another.
///
/// # Errors
/// [`DecodeError`] if it is no JSON, or holds no signal of OTLP.
pub fn decode(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    let mut input = std::io::Cursor::new(bytes);
    let mut source = Source::new(&mut input).map_err(|error| DecodeError(error.to_string()))?;
    let mut walk = Walk::new(usize::MAX);
    let end = bytes.len() as u64;
    let mut cursor = Cursor::stream(&mut source, end);
    let mut any = false;
    while cursor.peek().map_err(said)?.is_some() {
        any = true;
        walk.value(&mut cursor).map_err(|fault| match fault {
            Fault::Bad(issue, _) => shown(&issue),
            Fault::Fatal(error) => DecodeError(match error {
                ReadError::Input(issue) => issue.to_string(),
                error => error.to_string(),
            }),
        })?;
    }
    if !any || !walk.recognised() {
        return Err(DecodeError("neither resourceSpans nor resourceLogs are there".to_owned()));
    }
    let logs_ignored = walk.logs_ignored;
    let faults = walk.faults.iter().take(FAULTS_LISTED_MAX).map(|fault| fault.message.clone()).collect();
    let faults_count = walk.faults_count;
    Ok(Decoded { spans: walk.spans, logs: walk.logs, faults, faults_count, logs_ignored })
}

fn shown(issue: &Issue) -> DecodeError {
    DecodeError(issue.to_string())
}

fn said(error: CursorError) -> DecodeError {
    match Fault::from(error) {
        Fault::Bad(issue, _) => shown(&issue),
        Fault::Fatal(error) => DecodeError(error.to_string()),
    }
}

/// A field's name in the form in which names are compared.
fn folded(name: &str) -> String {
    name.chars().filter(|character| *character != '_').flat_map(char::to_lowercase).collect()
}
