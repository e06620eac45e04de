//! Finds out which format an input has, by the look of its first records.
//!
//! 1. Records are looked at one after another, the elements of an array each on its own: the first lines of a file are often
//!    metadata, and some may be damaged.
//! 2. The first record that can only be of one format decides; of several formats that claim it, the first in the order of
//!    [`FORMATS`](super::FORMATS).
//! 3. If there is none, the first format that a record may be of is taken, or the first shape that is known but not read is
//!    named.

use super::common::cursor::{Cursor, CursorError};
use super::common::look::{Look, sketch};
use super::common::records::Records;
use super::common::source::Source;
use super::refused::refused;
use super::report::ReadError;
use super::{FORMATS, Format, otel};
use crate::json::Json;

/// Whether a record may be of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is not.
    No,
    /// It can be read as this format, but as another one too: a later record may tell.
    Maybe,
    /// No other format looks like this.
    Yes,
}

impl Fit {
    /// Yes if a mark of the format is there.
    pub(super) fn yes_if(mark: bool) -> Self {
        if mark { Self::Yes } else { Self::No }
    }

    /// Maybe, if it is not more and this holds.
    pub(super) fn or_maybe_if(self, shape: bool) -> Self {
        if self == Self::No && shape { Self::Maybe } else { self }
    }
}

/// Records looked at for one whose format is known; the elements of an array count as records.
const RECORDS_LOOKED_AT_MAX: usize = 50;

/// Bytes after which no further record is looked at if a format is known that the input may have.
const BYTES_LOOKED_AT_MAX: u64 = 16 * 1024 * 1024;

/// Finds the format and goes back to where the source stood.
pub(super) fn detect(source: &mut Source<'_>, bytes_max: usize) -> Result<&'static dyn Format, ReadError> {
    // What is no text can only be what this one refuses with a reason.
    if otel::is_binary(source)? {
        return Ok(&otel::Otel);
    }
    let start = source.place();
    let mut records = Records::new(source, bytes_max);
    let mut weak = None;
    let mut looked_at = 0;
    while looked_at < RECORDS_LOOKED_AT_MAX {
        let Some(record) = records.next(source)? else { break };
        if weak.is_some() && record.start.offset - start.offset > BYTES_LOOKED_AT_MAX {
            break;
        }
        source.seek(record.start)?;
        let seen = match sketch(&mut Cursor::stream(source, record.end)) {
            Ok(seen) => seen,
            Err(CursorError::Io(error)) => return Err(error.into()),
            Err(_) => Json::Null,
        };
        let named = refused(&seen);
        for look in Look::all_of(seen).into_iter().take(RECORDS_LOOKED_AT_MAX - looked_at) {
            looked_at += 1;
            for format in FORMATS {
                match format.fits(&look) {
                    Fit::Yes => {
                        source.seek(start)?;
                        return Ok(*format);
                    }
                    Fit::Maybe => {
                        weak.get_or_insert(Ok(*format));
                    }
                    Fit::No => {}
                }
            }
        }
        if let Some(why) = named {
            weak.get_or_insert(Err(why));
        }
    }
    source.seek(start)?;
    let tried = || FORMATS.iter().map(|format| format.name()).collect();
    match weak {
        Some(Ok(format)) => Ok(format),
        Some(Err(why)) => Err(ReadError::NotRecognised { tried: tried(), why: Some(why) }),
        None => Err(ReadError::NotRecognised { tried: tried(), why: None }),
    }
}
