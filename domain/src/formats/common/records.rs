//! Cuts the input into records: a line each, or values that go over several lines, or the elements of one array.
//!
//! 1. A byte-order mark and blank lines are passed over.
//! 2. The first line decides: if the JSON value that begins on it does not end on it, and the line does not end within a
//!    string, then values go over several lines (a pretty-printed object, an array). Else each line is a record of its own,
//!    so that one bad line costs one record.
//! 3. A record of up to a given size is read into memory; of a larger one only its place is found.

use super::cursor::Stream;
use super::source::{Place, Scan, Source};
use memchr::memchr;
use std::io;

/// A record that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Where it begins.
    pub(crate) start: Place,
    /// Offset at which it ends.
    pub(crate) end: u64,
    /// Whether it is too large to be in memory.
    pub(crate) large: bool,
    /// Whether it is a line that the input ends within: no line feed follows.
    pub(crate) last_line: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Lines,
    Values,
}

/// Finds record after record.
pub(crate) struct Records {
    layout: Option<Layout>,
    /// Where the next record is looked for.
    next: Place,
    bytes_max: usize,
    /// The bytes of the newest record in memory.
    pub(crate) bytes: Vec<u8>,
}

impl Records {
    /// From where the source stands; records of up to `bytes_max` are read into memory.
    pub(crate) fn new(source: &Source<'_>, bytes_max: usize) -> Self {
        Self { layout: None, next: source.place(), bytes_max, bytes: Vec::new() }
    }

    /// The next record; its bytes, unless it is large, are in `self.bytes`.
    pub(crate) fn next(&mut self, source: &mut Source<'_>) -> io::Result<Option<Record>> {
        source.seek(self.next)?;
        let layout = match self.layout {
            Some(layout) => layout,
            None => {
                skip_mark(source)?;
                skip_space(source)?;
                let layout = layout_at(source)?;
                self.layout = Some(layout);
                layout
            }
        };
        skip_space(source)?;
        let start = source.place();
        if source.window()?.is_empty() {
            return Ok(None);
        }
        let (large, ended) = match layout {
            Layout::Lines => read_line(source, &mut self.bytes, self.bytes_max)?,
            Layout::Values => (Stream::new(source, u64::MAX).take_value(&mut self.bytes, self.bytes_max)?, true),
        };
        self.next = source.place();
        Ok(Some(Record { start, end: self.next.offset, large, last_line: layout == Layout::Lines && !ended }))
    }
}

/// The next element of an array, the stream standing on its first byte; like [`Records::next`] but for what ends it.
pub(crate) fn next_element(stream: &mut Stream<'_, '_>, bytes: &mut Vec<u8>, bytes_max: usize) -> io::Result<Record> {
    let start = stream.place();
    let large = stream.take_value(bytes, bytes_max)?;
    Ok(Record { start, end: stream.place().offset, large, last_line: false })
}

fn skip_mark(source: &mut Source<'_>) -> io::Result<()> {
    let mark = "\u{FEFF}".as_bytes();
    if source.window()?.starts_with(mark) { source.advance(mark.len()) } else { Ok(()) }
}

/// White space, and NUL, which a crash leaves at the end of files.
fn skip_space(source: &mut Source<'_>) -> io::Result<()> {
    loop {
        let window = source.window()?;
        let length = window.len();
        let space = window.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0)).count();
        source.advance(space)?;
        if space < length || length == 0 {
            return Ok(());
        }
    }
}

/// See rule 2 of the module.
fn layout_at(source: &mut Source<'_>) -> io::Result<Layout> {
    let start = source.place();
    let mut scan = Scan::default();
    let layout = loop {
        let window = source.window()?;
        if window.is_empty() {
            break Layout::Lines;
        }
        let line_end = memchr(b'\n', window);
        let length = line_end.unwrap_or(window.len());
        if scan.feed(&window[..length]).is_some() {
            break Layout::Lines;
        }
        if line_end.is_some() {
            break if scan.in_string() || scan.ends_with_scalar() { Layout::Lines } else { Layout::Values };
        }
        source.advance(length)?;
    };
    source.seek(start)?;
    Ok(layout)
}

/// Bytes of a buffer that is kept for the next record.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// Empties a buffer whose record is taken. A large one is given back, since what is made of its record may be larger still.
pub(crate) fn reuse(bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.shrink_to(KEPT_BYTES_MAX);
}

/// Reads to the end of the line. Says whether it is larger than `bytes_max`, and whether a line feed ended it.
fn read_line(source: &mut Source<'_>, bytes: &mut Vec<u8>, bytes_max: usize) -> io::Result<(bool, bool)> {
    bytes.clear();
    let mut large = false;
    loop {
        let window = source.window()?;
        if window.is_empty() {
            return Ok((large, false));
        }
        let line_end = memchr(b'\n', window);
        let length = line_end.unwrap_or(window.len());
        large |= bytes.len() + length > bytes_max;
        if !large {
            bytes.extend_from_slice(&window[..length]);
        }
        source.advance(length)?;
        if line_end.is_some() {
            return Ok((large, true));
        }
    }
}
