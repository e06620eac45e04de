//! The lines of a session file, read one after another and again at their place.

use crate::formats::common::clean::{Cleaned, clean};
use crate::formats::common::cursor::{Cursor, CursorError, Stream};
use crate::formats::common::look::look;
use crate::formats::common::records::{Record, Records, next_element};
use crate::formats::common::source::{Place, Source};
use crate::json::Json;
use crate::json::parse::{Unparsed, value_of_bytes};
use crate::limits::STEP_BYTES_MAX;
use std::io;

/// Where a line stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: Place,
    /// Offset at which it ends.
    pub(super) end: u64,
}

/// Why a line is none.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It is no JSON.
    Damaged(String),
    /// It has more bytes than a step may have.
    TooLarge,
    /// It has more parts than a text of its size may have.
    TooManyParts,
}

/// What was read: the line and what was cleaned, or why there is none.
pub(super) type Read = Result<(Json, Cleaned), Trouble>;

/// Hands on every line; the elements of an array, if the whole file is one. Whether there was anything.
pub(super) fn each<E: From<io::Error>>(
    source: &mut Source<'_>,
    mut take: impl FnMut(Span, Read) -> Result<(), E>,
) -> Result<bool, E> {
    let mut records = Records::new(source, STEP_BYTES_MAX);
    let mut any = false;
    while let Some(record) = records.next(source)? {
        if !any && is_array_of_objects(source, record)? {
            elements(source, record, &mut take)?;
        } else {
            take(Span { start: record.start, end: record.end }, parse(&mut records.bytes, record.large))?;
        }
        any = true;
    }
    Ok(any)
}

/// Bytes that are passed over rather than skipped by a seek.
const AHEAD_BYTES_MAX: u64 = 4096;

/// Reads a line again.
pub(super) fn read_at(source: &mut Source<'_>, span: Span) -> io::Result<Read> {
    // Lines are mostly read in their order. A short way is gone on foot: a seek would throw away what is read ahead.
    while let Some(ahead @ 1..=AHEAD_BYTES_MAX) = span.start.offset.checked_sub(source.place().offset) {
        let length = source.window()?.len();
        if length == 0 {
            break;
        }
        source.advance(length.min(usize::try_from(ahead).unwrap_or(length)))?;
    }
    source.seek(span.start)?;
    let length = usize::try_from(span.end.saturating_sub(span.start.offset)).unwrap_or(usize::MAX);
    if length > STEP_BYTES_MAX {
        return Ok(Err(Trouble::TooLarge));
    }
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let window = source.window()?;
        if window.is_empty() {
            break;
        }
        let count = window.len().min(length - bytes.len());
        bytes.extend_from_slice(window.get(..count).unwrap_or_default());
        source.advance(count)?;
    }
    Ok(parse(&mut bytes, false))
}

fn parse(bytes: &mut Vec<u8>, large: bool) -> Read {
    if large {
        return Err(Trouble::TooLarge);
    }
    let cleaned = clean(bytes);
    match value_of_bytes(bytes) {
        Ok(json) => Ok((json, cleaned)),
        Err(Unparsed { too_many_parts: true, .. }) => Err(Trouble::TooManyParts),
        Err(Unparsed { message, .. }) => Err(Trouble::Damaged(message)),
    }
}

fn is_array_of_objects(source: &mut Source<'_>, record: Record) -> io::Result<bool> {
    source.seek(record.start)?;
    match look(&mut Cursor::stream(source, record.end)) {
        Ok(look) => Ok(look.array && matches!(look.value, Json::Object(_)) && !look.nested_array),
        Err(CursorError::Io(error)) => Err(error),
        Err(_) => Ok(false),
    }
}

/// Hands on each element of an array; damage between them ends it.
fn elements<E: From<io::Error>>(
    source: &mut Source<'_>,
    array: Record,
    take: &mut impl FnMut(Span, Read) -> Result<(), E>,
) -> Result<(), E> {
    source.seek(array.start)?;
    let mut bytes = Vec::new();
    let mut next = Cursor::stream(source, array.end).expect(b"[");
    loop {
        match next {
            Ok(b']') => return Ok(()),
            Ok(_) => {}
            Err(CursorError::Io(error)) => return Err(error.into()),
            Err(CursorError::Syntax { place, message, .. }) => {
                return take(Span { start: place, end: place.offset }, Err(Trouble::Damaged(message)));
            }
            Err(CursorError::TooLarge { place }) => {
                return take(Span { start: place, end: place.offset }, Err(Trouble::TooLarge));
            }
            Err(CursorError::TooManyParts { place }) => {
                return take(Span { start: place, end: place.offset }, Err(Trouble::TooManyParts));
            }
        }
        // White space before the element, so that its place is its own.
        if let Err(CursorError::Io(error)) = Cursor::stream(source, array.end).peek() {
            return Err(error.into());
        }
        let element = next_element(&mut Stream::new(source, array.end), &mut bytes, STEP_BYTES_MAX)?;
        take(Span { start: element.start, end: element.end }, parse(&mut bytes, element.large))?;
        next = Cursor::stream(source, array.end).expect(b",]");
    }
}
