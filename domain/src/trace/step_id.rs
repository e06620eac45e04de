//! How a step gets its id.
//!
//! It is derived from the trace, the step's content (role, text, tool call) and its occurrence among equal steps of the trace,
//! under a key of the trace. So a re-import leaves unchanged steps their ids wherever they now stand, a changed or removed step
//! has none, and once the key is shredded an id says nothing about the content. Metadata does not count: a re-import that adds
//! a timestamp keeps the annotations.

use super::Step;
use crate::ids::{Digest, StepId, TraceId, derive};
use crate::rendering::canonical_json;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Derives the ids of a trace's steps, in order.
///
/// Memory: 40 bytes for each distinct step, so at most 80 MB at [`crate::limits::STEPS_PER_TRACE_MAX`]. It can be stored (40
/// characters for each) and taken up again.
#[derive(Clone, Serialize, Deserialize)]
pub struct StepIds {
    #[serde(rename = "k", serialize_with = "store_key", deserialize_with = "restore_key")]
    key: [u8; 32],
    #[serde(rename = "t")]
    trace: TraceId,
    /// How often each content was there, by the first half of its digest.
    #[serde(rename = "n", serialize_with = "store", deserialize_with = "restore")]
    seen: BTreeMap<[u8; 16], u32>,
}

impl StepIds {
    /// Starts a trace. `key` is the trace's step-id key, itself derived from its subject key.
    pub fn new(key: [u8; 32], trace: TraceId) -> Self {
        Self { key, trace, seen: BTreeMap::new() }
    }

    /// The id of the next step.
    pub fn next(&mut self, step: &Step) -> StepId {
        let content = content_digest(step);
        let mut short = [0_u8; 16];
        short.copy_from_slice(&content.0[..16]);
        let occurrence = self.seen.entry(short).or_insert(0);
        let id = derive("step", &[&self.key, self.trace.0.as_bytes(), &content.0, &occurrence.to_be_bytes()]);
        *occurrence = occurrence.saturating_add(1);
        StepId(id)
    }
}

/// Digest of what makes a step the same step: role, content, tool name, input and call id.
fn content_digest(step: &Step) -> Digest {
    let mut hash = Sha256::new();
    let input = step.tool_input.as_ref().map(canonical_json);
    let fields = [
        Some(step.role.name()),
        Some(&step.content),
        step.tool_name.as_deref(),
        input.as_deref(),
        step.tool_call_id.as_deref(),
    ];
    for field in fields {
        match field {
            None => hash.update([0]),
            Some(text) => {
                hash.update([1]);
                hash.update((text.len() as u64).to_be_bytes());
                hash.update(text.as_bytes());
            }
        }
    }
    Digest(hash.finalize().into())
}

/// One string of hexadecimal digits: 16 bytes of digest and 4 of number for each.
fn store<S: Serializer>(seen: &BTreeMap<[u8; 16], u32>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(seen.len() * 20);
    for (digest, number) in seen {
        bytes.extend_from_slice(digest);
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    serializer.serialize_str(&hex::encode(bytes))
}

fn restore<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<[u8; 16], u32>, D::Error> {
    let bytes = hex::decode(String::deserialize(deserializer)?).map_err(D::Error::custom)?;
    let (entries, []) = bytes.as_chunks::<20>() else { return Err(D::Error::custom("an entry of 20 bytes is cut")) };
    let entry = |entry: &[u8; 20]| {
        let (digest, number) = (entry.first_chunk::<16>()?, entry.last_chunk::<4>()?);
        Some((*digest, u32::from_be_bytes(*number)))
    };
    Ok(entries.iter().filter_map(entry).collect())
}

fn store_key<S: Serializer>(key: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(key))
}

fn restore_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
    let mut key = [0; 32];
    hex::decode_to_slice(String::deserialize(deserializer)?, &mut key).map_err(D::Error::custom)?;
    Ok(key)
}
