//! The input as bytes with places, and a scanner that finds where a JSON value ends without holding it.

use memchr::{memchr_iter, memchr2};
use std::io::{self, BufRead, ErrorKind, Seek, SeekFrom};

/// What a reading needs of its input.
pub(crate) trait Input: BufRead + Seek {}

impl<T: BufRead + Seek> Input for T {}

/// A place in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Byte offset, from 0.
    pub(crate) offset: u64,
    /// Line, from 1.
    pub(crate) line: u64,
}

/// The input, knowing where it is.
pub(crate) struct Source<'a> {
    inner: &'a mut dyn Input,
    /// Where the input began: callers may hand over one that stands elsewhere than at 0.
    base: u64,
    place: Place,
}

impl<'a> Source<'a> {
    /// Takes the input from where it stands.
    pub(crate) fn new(inner: &'a mut dyn Input) -> io::Result<Self> {
        let base = inner.stream_position()?;
        Ok(Self { inner, base, place: Place { offset: 0, line: 1 } })
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Goes to a place seen before.
    pub(crate) fn seek(&mut self, place: Place) -> io::Result<()> {
        if place.offset != self.place.offset {
            self.inner.seek(SeekFrom::Start(self.base.saturating_add(place.offset)))?;
        }
        self.place = place;
        Ok(())
    }

    /// Bytes ready to be looked at; empty at the end.
    pub(crate) fn window(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.inner.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // Asked a second time because the borrow checker cannot see that the loop returns; the bytes are there already.
        self.inner.fill_buf()
    }

    /// Goes past the first `count` bytes of the window.
    pub(crate) fn advance(&mut self, count: usize) -> io::Result<()> {
        let window = self.inner.fill_buf()?;
        let count = count.min(window.len());
        self.place.line += memchr_iter(b'\n', &window[..count]).count() as u64;
        self.place.offset += count as u64;
        self.inner.consume(count);
        Ok(())
    }
}

/// Finds the end of one JSON value in bytes that come in pieces, as if raw NULs were not there. It counts brackets and knows strings, nothing more: whether
/// the value is valid is for the parser to say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    depth: u64,
    in_string: bool,
    escaped: bool,
    in_scalar: bool,
}

impl Scan {
    /// Takes the next bytes; the number of them up to the end of the value, or none if it goes on. White space before the
    /// value belongs to it. A scalar outside brackets ends before the byte that ends it.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.escaped {
                // A raw NUL is dropped wherever it stands: what is escaped comes behind it.
                self.escaped = byte == 0;
                at += 1;
                continue;
            }
            if self.in_string {
                at += memchr2(b'"', b'\\', &bytes[at..])?;
                self.escaped = bytes[at] == b'\\';
                self.in_string = self.escaped;
                at += 1;
                if !self.in_string && self.depth == 0 {
                    return Some(at);
                }
                continue;
            }
            match byte {
                b'"' if !self.in_scalar => self.in_string = true,
                b'{' | b'[' if !self.in_scalar => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                0 => {}
                _ if self.depth > 0 => {}
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"' => {
                    // A stray separator is no value: it is handed on alone, so that the caller moves on and the parser objects.
                    let stray = !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') && !self.in_scalar;
                    if self.in_scalar || stray {
                        return Some(at + usize::from(stray));
                    }
                }
                _ => self.in_scalar = true,
            }
            at += 1;
        }
        None
    }

    /// Whether the bytes so far end within a string.
    pub(crate) fn in_string(&self) -> bool {
        self.in_string
    }

    /// Whether the bytes so far hold the whole of a scalar, if the input ends here.
    pub(crate) fn ends_with_scalar(&self) -> bool {
        self.in_scalar && self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> Option<usize> {
        Scan::default().feed(text.as_bytes())
    }

    #[test]
    fn finds_the_end_of_each_kind_of_value() {
        assert_eq!(end(r#"  {"a":[1,"}\"]"]} rest"#), Some(18));
        assert_eq!(end(r#""a\\" x"#), Some(5));
        assert_eq!(end("12, 3"), Some(2));
        assert_eq!(end("null]"), Some(4));
        assert_eq!(end(r#"{"a":"#), None);
        assert_eq!(end(r#"{"a":"\"}"#), None);
        assert_eq!(end(",1"), Some(1));
        assert_eq!(end("\"a\\\0\0\"b\" x"), Some(8));
    }

    proptest::proptest! {
        #[test]
        fn the_end_is_where_it_is_without_raw_nul(picked in proptest::collection::vec(0_usize..10, 0..40)) {
            let bytes: Vec<u8> = picked.iter().map(|n| b"\0\0\\\\\"\"[]x,"[*n]).collect();
            let without: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
            let end = Scan::default().feed(&bytes).map(|end| bytes[..end].iter().filter(|byte| **byte != 0).count());
            proptest::prop_assert_eq!(end, Scan::default().feed(&without));
        }

        #[test]
        fn pieces_give_the_same_end_as_the_whole(bytes: Vec<u8>, cut in 0_usize..64) {
            let whole = Scan::default().feed(&bytes);
            let cut = cut.min(bytes.len());
            let mut scan = Scan::default();
            let pieces = scan.feed(&bytes[..cut]).or_else(|| scan.feed(&bytes[cut..]).map(|end| end + cut));
            // A scalar that ends exactly at the cut ends before the next piece's first byte.
            proptest::prop_assert_eq!(whole, pieces);
        }
    }
}
