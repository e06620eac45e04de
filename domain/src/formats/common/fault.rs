//! Why a record is not taken.

use super::cursor::CursorError;
use super::record::{Bad, Stop};
use super::source::Place;
use crate::formats::report::{Issue, ReadError, SinkError};
use crate::json::parse::too_many_parts;
use crate::limits::{STEP_BYTES_MAX, TRACE_HEAD_BYTES_MAX};

/// Why a record was not taken.
pub(crate) enum Fault {
    /// It breaks a rule; whether it merely ends too early.
    Bad(Issue, bool),
    /// The reading is over.
    Fatal(ReadError),
}

impl From<CursorError> for Fault {
    fn from(error: CursorError) -> Self {
        match error {
            CursorError::Io(error) => Self::Fatal(ReadError::Io(error)),
            CursorError::Syntax { place, message, truncated } => {
                Self::Bad(issue(place, Bad::new("", message)), truncated)
            }
            CursorError::TooLarge { place } => {
                let message = format!(
                    "one value is larger than allowed: a step may have {STEP_BYTES_MAX} bytes, everything else of a trace \
                     {TRACE_HEAD_BYTES_MAX}"
                );
                Self::Bad(issue(place, Bad::new("", message)), false)
            }
            CursorError::TooManyParts { place } => Self::Bad(issue(place, Bad::new("", too_many_parts())), false),
        }
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Fatal(ReadError::Io(error))
    }
}

pub(crate) fn issue(place: Place, bad: Bad) -> Issue {
    let field = (!bad.field.is_empty()).then_some(bad.field);
    Issue { line: place.line, offset: place.offset, field, message: bad.message }
}

pub(crate) fn stop(place: Place, path: &str, stop: Stop) -> Fault {
    match stop {
        Stop::Bad(bad) => Fault::Bad(issue(place, bad.within(path)), false),
        Stop::Sink(error) => Fault::Fatal(ReadError::Sink(error)),
    }
}

pub(crate) fn sink_error(error: SinkError) -> Fault {
    Fault::Fatal(ReadError::Sink(error))
}
