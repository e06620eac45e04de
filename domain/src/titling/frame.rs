//! A title as events hold it, sealed under its trace.

use crate::frame::{BadFrame, decode, encode};
use crate::ids::Digest;
use serde::{Deserialize, Serialize};

const KIND: u8 = b'T';

/// A title, and the message it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TitleFrame {
    /// The title; none for one that could not be made, and where a person takes theirs back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Digest of the message that a generated title is about ([`Titler::basis`](crate::trace::title::Titler::basis)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Digest>,
}

impl TitleFrame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never for the frames of this version: their keys are strings and they hold no fractions.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        encode(KIND, self)
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        decode(KIND, bytes)
    }
}
