//! Digests of all texts of a trace in one pass over its steps.

use super::v1::{Form, render_step};
use crate::ids::Digest;
use crate::trace::Step;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::digest::common::hazmat::{SerializableState, SerializedState};
use sha2::{Digest as _, Sha256};

/// Fed step by step, gives the digest of each action's text and, at the end, of the trace's text.
///
/// An action's text is a prefix of the trace's, so that one running hash, copied at each action, gives them all: time grows
/// with the trace, memory with its largest step.
///
/// It can be stored and taken up again, so that what is added to a trace costs no reading of what it had.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Digester {
    #[serde(rename = "h", serialize_with = "store", deserialize_with = "restore")]
    hash: Sha256,
    #[serde(rename = "a")]
    any: bool,
}

impl Digester {
    /// Starts a trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next step; the digest of the action text that ends here, if the step is an action.
    pub fn step(&mut self, step: &Step) -> Option<Digest> {
        let segment = render_step(step, Form::ChatMl)?;
        if self.any {
            self.hash.update(b"\n");
        }
        self.any = true;
        self.hash.update(segment.as_bytes());
        step.action_type().map(|_| self.current())
    }

    /// Digest of the text so far: of the prior context, before the step of an action is taken; of the trace, after the last.
    pub fn current(&self) -> Digest {
        Digest(self.hash.clone().finalize().into())
    }
}

/// The hash in the middle of its work, as hexadecimal digits. Its form is that of the hash's implementation, so only what can be
/// made again from its source may be stored this way.
fn store<S: Serializer>(hash: &Sha256, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(SerializableState::serialize(hash)))
}

fn restore<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Sha256, D::Error> {
    let text = String::deserialize(deserializer)?;
    let mut state = SerializedState::<Sha256>::default();
    hex::decode_to_slice(text, &mut state).map_err(D::Error::custom)?;
    <Sha256 as SerializableState>::deserialize(&state).map_err(D::Error::custom)
}
