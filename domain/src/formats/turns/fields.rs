//! The fields of a message, some of which are said by what stands around it: the class of a dump, the name of an event. A message may
//! be large, so these stand beside what was recorded, and not in a copy of it.

use crate::json::Json;
use std::borrow::Cow;

/// A message's fields.
pub(super) struct Fields<'j> {
    recorded: Cow<'j, Json>,
    /// Keys of fields that do not count.
    without: &'static [&'static str],
    /// Fields that are said elsewhere, and stand before those recorded.
    with: Vec<(&'static str, Json)>,
}

impl<'j> Fields<'j> {
    /// As they were recorded.
    pub(super) fn of(recorded: &'j Json) -> Self {
        Self { recorded: Cow::Borrowed(recorded), without: &[], with: Vec::new() }
    }

    /// A content that has no message around it.
    pub(super) fn of_content(content: Json) -> Self {
        let recorded = Cow::Owned(Json::Object(vec![("content".to_owned(), content)]));
        Self { recorded, without: &[], with: Vec::new() }
    }

    /// Leaves out the fields of these keys.
    pub(super) fn without(self, keys: &'static [&'static str]) -> Self {
        Self { without: keys, ..self }
    }

    /// Says a field, whatever was recorded.
    pub(super) fn with(mut self, key: &'static str, value: Json) -> Self {
        self.with.push((key, value));
        self
    }

    /// The field of this key.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        if let Some((_, value)) = self.with.iter().find(|(name, _)| *name == key) {
            return Some(value);
        }
        if self.without.contains(&key) { None } else { self.recorded.get(key) }
    }

    /// All that was recorded; none if any field is said elsewhere.
    pub(super) fn recorded(&self) -> Option<&Json> {
        (self.without.is_empty() && self.with.is_empty()).then_some(&*self.recorded)
    }
}
