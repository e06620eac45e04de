//! How a step gets its id.
//!
//! It is derived from the trace, the step's content (role, text, tool call) and its occurrence among equal steps of the trace,
//! under a key of the trace. So a re-import leaves unchanged steps their ids wherever they now stand, a changed or removed step
//! has none, and once the key is shredded an id says nothing about the content. Metadata does not count: a re-import that adds
//! a timestamp keeps the annotations.

use super::Step;
use crate::ids::{Digest, StepId, TraceId, derive};
use crate::rendering::canonical_json;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Derives the ids of a trace's steps, in order.
///
/// Memory: 40 bytes for each distinct step, so at most 80 MB at [`crate::limits::STEPS_PER_TRACE_MAX`].
pub struct StepIds {
    key: [u8; 32],
    trace: TraceId,
    seen: HashMap<[u8; 16], u32>,
}

impl StepIds {
    /// Starts a trace. `key` is the trace's step-id key, itself derived from its subject key.
    pub fn new(key: [u8; 32], trace: TraceId) -> Self {
        Self { key, trace, seen: HashMap::new() }
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
