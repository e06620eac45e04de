//! Walks a JSON text value by value, in memory or on the source, without ever holding more than one value.

use super::clean::{Cleaned, clean};
use super::records::reuse;
use super::source::{Place, Scan, Source};
use crate::json::Json;
use crate::json::parse::{Parts, Unparsed, first_value};
use memchr::memchr_iter;
use std::io;

/// Why a value could not be had.
#[derive(Debug)]
pub(crate) enum CursorError {
    /// The source failed.
    Io(io::Error),
    /// It is no JSON.
    Syntax {
        /// Where.
        place: Place,
        /// What.
        message: String,
        /// Whether the text merely ends too early.
        truncated: bool,
    },
    /// It is larger than the caller holds.
    TooLarge {
        /// Where it begins.
        place: Place,
    },
    /// It has more parts than a text of its size may have.
    TooManyParts {
        /// Where it begins.
        place: Place,
    },
}

impl From<io::Error> for CursorError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A position in a JSON text.
pub(crate) enum Cursor<'c, 's> {
    /// In a record held in memory, cleaned already.
    Memory(Memory<'c>),
    /// In a record that stands on the source only; values are cleaned one by one.
    Stream(Stream<'c, 's>),
}

/// See [`Cursor::Memory`].
pub(crate) struct Memory<'c> {
    text: &'c str,
    at: usize,
    /// Where the text begins in the input.
    start: Place,
    /// How far lines were counted, and the line there.
    counted: (usize, u64),
    parts: Parts,
}

/// See [`Cursor::Stream`].
pub(crate) struct Stream<'c, 's> {
    source: &'c mut Source<'s>,
    /// Offset at which the text ends.
    end: u64,
    scratch: Vec<u8>,
    cleaned: Cleaned,
    parts: Parts,
}

impl<'c, 's> Cursor<'c, 's> {
    pub(crate) fn memory(text: &'c str, start: Place) -> Self {
        let parts = Parts::of(text.len());
        Self::Memory(Memory { text, at: 0, start, counted: (0, start.line), parts })
    }

    /// From where the source stands to an offset.
    pub(crate) fn stream(source: &'c mut Source<'s>, end: u64) -> Self {
        Self::Stream(Stream::new(source, end))
    }

    /// Parts that the values of the text may still have together: many of them are held at once.
    pub(crate) fn parts(&self) -> &Parts {
        match self {
            Self::Memory(memory) => &memory.parts,
            Self::Stream(stream) => &stream.parts,
        }
    }

    /// Counts parts that come of what was read beside the values themselves.
    pub(crate) fn count_parts(&mut self, parts: usize) -> Result<(), CursorError> {
        if self.parts().take(parts) { Ok(()) } else { Err(CursorError::TooManyParts { place: self.place() }) }
    }

    /// Where it is.
    pub(crate) fn place(&mut self) -> Place {
        match self {
            Self::Memory(memory) => memory.place(),
            Self::Stream(stream) => stream.source.place(),
        }
    }

    /// Goes to a place it has been at.
    pub(crate) fn seek(&mut self, place: Place) -> Result<(), CursorError> {
        match self {
            Self::Memory(memory) => {
                let at = usize::try_from(place.offset.saturating_sub(memory.start.offset)).unwrap_or(usize::MAX);
                memory.at = at.min(memory.text.len());
                memory.counted = (memory.at, place.line);
                Ok(())
            }
            Self::Stream(stream) => Ok(stream.source.seek(place)?),
        }
    }

    /// What was cleaned in the values read so far; nothing in memory, where the whole record was cleaned before.
    pub(crate) fn cleaned(&self) -> Cleaned {
        match self {
            Self::Memory(_) => Cleaned::default(),
            Self::Stream(stream) => stream.cleaned,
        }
    }

    /// The next byte that is no white space, left in place; none at the end.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, CursorError> {
        match self {
            Self::Memory(memory) => {
                let rest = &memory.text.as_bytes()[memory.at..];
                let space = rest.iter().take_while(|byte| is_space(**byte)).count();
                memory.at += space;
                Ok(rest.get(space).copied())
            }
            Self::Stream(stream) => loop {
                let window = stream.window()?;
                if window.is_empty() {
                    return Ok(None);
                }
                // A raw NUL is dropped wherever it stands; a record in memory has none any more.
                let space = window.iter().take_while(|byte| is_space(**byte) || **byte == 0).count();
                let byte = window.get(space).copied();
                stream.source.advance(space)?;
                if byte.is_some() {
                    return Ok(byte);
                }
            },
        }
    }

    /// Goes past one of these bytes and says which it was.
    pub(crate) fn expect(&mut self, any_of: &[u8]) -> Result<u8, CursorError> {
        match self.peek()? {
            Some(byte) if any_of.contains(&byte) => {
                match self {
                    Self::Memory(memory) => memory.at += 1,
                    Self::Stream(stream) => stream.source.advance(1)?,
                }
                Ok(byte)
            }
            found => {
                let names: Vec<String> = any_of.iter().map(|byte| format!("`{}`", char::from(*byte))).collect();
                Err(CursorError::Syntax {
                    place: self.place(),
                    message: format!("not valid JSON: expected {}", names.join(" or ")),
                    truncated: found.is_none(),
                })
            }
        }
    }

    /// Parses the next value, of at most so many bytes if it stands on the source.
    pub(crate) fn value(&mut self, bytes_max: usize) -> Result<Json, CursorError> {
        self.peek()?;
        match self {
            Self::Memory(memory) => memory.value(),
            Self::Stream(stream) => stream.value(bytes_max),
        }
    }

    /// Goes past the next value, whatever it is.
    pub(crate) fn skip(&mut self) -> Result<(), CursorError> {
        self.peek()?;
        match self {
            Self::Memory(memory) => {
                let mut scan = Scan::default();
                match scan.feed(&memory.text.as_bytes()[memory.at..]) {
                    Some(length) => memory.at += length,
                    None if scan.ends_with_scalar() => memory.at = memory.text.len(),
                    None => {
                        memory.at = memory.text.len();
                        return Err(truncated(memory.place()));
                    }
                }
                Ok(())
            }
            Self::Stream(stream) => {
                let mut scan = Scan::default();
                loop {
                    let window = stream.window()?;
                    if window.is_empty() {
                        return if scan.ends_with_scalar() { Ok(()) } else { Err(truncated(stream.source.place())) };
                    }
                    let (end, length) = (scan.feed(window), window.len());
                    stream.source.advance(end.unwrap_or(length))?;
                    if end.is_some() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Memory<'_> {
    fn place(&mut self) -> Place {
        self.place_at(self.at)
    }

    fn place_at(&mut self, at: usize) -> Place {
        let at = at.min(self.text.len());
        let (counted, line) = self.counted;
        if at >= counted {
            let lines = memchr_iter(b'\n', &self.text.as_bytes()[counted..at]).count() as u64;
            self.counted = (at, line + lines);
        } else {
            let lines = memchr_iter(b'\n', &self.text.as_bytes()[..at]).count() as u64;
            self.counted = (at, self.start.line + lines);
        }
        Place { offset: self.start.offset + at as u64, line: self.counted.1 }
    }

    fn value(&mut self) -> Result<Json, CursorError> {
        let rest = &self.text[self.at..];
        match first_value(rest, &self.parts) {
            Ok((value, length)) => {
                self.at += length;
                Ok(value)
            }
            Err(Unparsed { too_many_parts: true, .. }) => Err(CursorError::TooManyParts { place: self.place() }),
            Err(Unparsed { message, at, truncated, .. }) => {
                Err(CursorError::Syntax { place: self.place_at(self.at + at), message, truncated })
            }
        }
    }
}

impl<'c, 's> Stream<'c, 's> {
    pub(crate) fn new(source: &'c mut Source<'s>, end: u64) -> Self {
        let bytes = usize::try_from(end.saturating_sub(source.place().offset)).unwrap_or(usize::MAX);
        Self { source, end, scratch: Vec::new(), cleaned: Cleaned::default(), parts: Parts::of(bytes) }
    }

    /// Bytes up to the end of the text.
    fn window(&mut self) -> io::Result<&[u8]> {
        let left = usize::try_from(self.end.saturating_sub(self.source.place().offset)).unwrap_or(usize::MAX);
        let window = self.source.window()?;
        Ok(&window[..window.len().min(left)])
    }

    pub(crate) fn place(&self) -> Place {
        self.source.place()
    }

    /// Copies the next value's bytes and goes past it. Beyond `bytes_max` it only goes past it, and says that it is larger.
    pub(crate) fn take_value(&mut self, bytes: &mut Vec<u8>, bytes_max: usize) -> io::Result<bool> {
        bytes.clear();
        let mut scan = Scan::default();
        let mut large = false;
        loop {
            let window = self.window()?;
            let end = scan.feed(window);
            let length = end.unwrap_or(window.len());
            large |= bytes.len() + length > bytes_max;
            if !large {
                bytes.extend_from_slice(&window[..length]);
            }
            self.source.advance(length)?;
            if end.is_some() || length == 0 {
                return Ok(large);
            }
        }
    }

    fn value(&mut self, bytes_max: usize) -> Result<Json, CursorError> {
        let start = self.source.place();
        let mut scan = Scan::default();
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        loop {
            let window = self.window()?;
            let end = scan.feed(window);
            let length = end.unwrap_or(window.len());
            if bytes.len() + length > bytes_max {
                return Err(CursorError::TooLarge { place: start });
            }
            bytes.extend_from_slice(&window[..length]);
            self.source.advance(length)?;
            if end.is_some() || length == 0 {
                break;
            }
        }
        let cleaned = clean(&mut bytes);
        self.cleaned.nul |= cleaned.nul;
        self.cleaned.surrogates |= cleaned.surrogates;
        let parsed = match std::str::from_utf8(&bytes) {
            Ok(text) => first_value(text, &self.parts).map(|(value, _)| value),
            Err(error) => {
                let (message, at) = (NOT_UTF8.to_owned(), error.valid_up_to());
                Err(Unparsed { message, at, truncated: false, too_many_parts: false })
            }
        };
        let parsed = parsed.map_err(|Unparsed { message, at, truncated, too_many_parts }| {
            if too_many_parts {
                return CursorError::TooManyParts { place: start };
            }
            let lines = memchr_iter(b'\n', bytes.get(..at).unwrap_or(&bytes)).count() as u64;
            let place = Place { offset: start.offset + at as u64, line: start.line + lines };
            CursorError::Syntax { place, message, truncated }
        });
        reuse(&mut bytes);
        self.scratch = bytes;
        parsed
    }
}

/// What is said of bytes that are no UTF-8.
pub(crate) const NOT_UTF8: &str = "the text is not UTF-8; convert it first";

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn truncated(place: Place) -> CursorError {
    CursorError::Syntax { place, message: "the JSON ends too early".to_owned(), truncated: true }
}
