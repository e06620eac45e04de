//! Places in a list that does not move under its reader: the sort key and the id of the last row shown.
//!
//! A cursor says nothing that its reader has not seen and grants nothing: it only names a place among the owner's own rows. It is
//! bound to the sort order and the filters it was made with.

use stash_domain::error::Code;
use stash_domain::ids::Digest;
use stash_infra::http::Problem;
use std::fmt;
use uuid::Uuid;

/// A place in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cursor {
    /// The sort key of the last row; the smallest comes first.
    pub(crate) key: f64,
    /// Its id.
    pub(crate) id: Uuid,
    /// First bytes of a digest of sort order and filters.
    pub(crate) list: u64,
}

impl Cursor {
    /// Reads one that was made for this list.
    ///
    /// # Errors
    /// [`Code::BadLimit`]: it is none, or of another list.
    pub(crate) fn parse(text: &str, list: u64) -> Result<Self, Problem> {
        let bad = |detail: &str| Problem::new(Code::BadLimit, detail);
        let cursor = Self::read(text).ok_or_else(|| bad("cursor must be the next_cursor of an earlier page"))?;
        if cursor.list != list {
            return Err(bad("cursor belongs to a list with another sort order or other filters"));
        }
        Ok(cursor)
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let mut number = || {
            let part = parts.next().filter(|part| part.len() == 16 && part.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u64::from_str_radix(part, 16).ok()
        };
        let (list, key) = (number()?, f64::from_bits(number()?));
        let id = Uuid::try_parse(parts.next()?).ok()?;
        (!key.is_nan() && parts.next().is_none()).then_some(Self { key, id, list })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}.{:016x}.{}", self.list, self.key.to_bits(), self.id.as_simple())
    }
}

/// What binds a cursor to its list.
pub(crate) fn list_id(description: &str) -> u64 {
    let digest = Digest::of(description.as_bytes());
    digest.0.iter().take(8).fold(0, |id, byte| id << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_survives_its_text_form(key in proptest::num::f64::ANY.prop_filter("a number", |k| !k.is_nan()), id: u128, list: u64) {
            let cursor = Cursor { key, id: Uuid::from_u128(id), list };
            prop_assert_eq!(Cursor::parse(&cursor.to_string(), list).unwrap(), cursor);
        }

        #[test]
        fn hostile_text_is_refused_without_panic(text in ".{0,80}") {
            let _ = Cursor::parse(&text, 0);
        }
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let cursor = Cursor { key: 1.0, id: Uuid::nil(), list: list_id("newest") };
        assert_eq!(Cursor::parse(&cursor.to_string(), list_id("oldest")).unwrap_err().code(), Code::BadLimit);
    }
}
