//! JSON written in pieces: arrays item by item, strings segment by segment.

use super::{BodyError, Writer};
use serde::Serialize;

impl Writer {
    /// Appends an item of an array, with the comma that divides it from the one before.
    ///
    /// # Errors
    /// [`BodyError::Damaged`].
    pub(crate) fn item(&mut self, first: &mut bool, value: &impl Serialize) -> Result<(), BodyError> {
        if !std::mem::take(first) {
            self.raw(",");
        }
        self.json(value)
    }

    /// Appends an object without its closing brace, for more members to follow.
    ///
    /// # Errors
    /// [`BodyError::Damaged`], also for a value that is no object or has no members.
    pub(crate) fn open_object(&mut self, value: &impl Serialize) -> Result<(), BodyError> {
        let text = serde_json::to_string(value)?;
        match text.strip_suffix('}') {
            Some(members) if members.len() > 1 => {
                self.raw(members);
                Ok(())
            }
            _ => Err(BodyError::Damaged("an object with members was expected".to_owned())),
        }
    }
}
