//! Ids as small numbers: a session file repeats each of them on several lines.

use crate::formats::common::record::Bad;
use crate::limits::SESSION_IDS_MAX;
use std::collections::BTreeMap;

/// The number of an id.
pub(super) type Name = u32;

/// All ids of a file.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: BTreeMap<String, Name>,
}

/// Bytes of an id; a longer one counts as its start.
const ID_BYTES_MAX: usize = 512;

impl Names {
    /// The number of an id, which it gets if it is new.
    pub(super) fn of(&mut self, id: &str) -> Result<Name, Bad> {
        let id = clip(id);
        if let Some(name) = self.numbers.get(id) {
            return Ok(*name);
        }
        if self.numbers.len() >= SESSION_IDS_MAX {
            return Err(Bad::new("", format!("the session has more than {SESSION_IDS_MAX} ids; split the file")));
        }
        let name = Name::try_from(self.numbers.len()).unwrap_or(Name::MAX);
        self.numbers.insert(id.to_owned(), name);
        Ok(name)
    }

    /// The id with a number.
    pub(super) fn text(&self, name: Name) -> Option<&str> {
        self.numbers.iter().find(|(_, number)| **number == name).map(|(id, _)| id.as_str())
    }
}

fn clip(id: &str) -> &str {
    id.split_at_checked(ID_BYTES_MAX).map_or(id, |(start, _)| start)
}
