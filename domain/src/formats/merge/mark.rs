//! What is compared of a turn, and kept of it: 128 bits of a digest, 64 of its call id.

use super::packed::Packed;
use crate::json::Object;
use crate::rendering::canonical_json;
use crate::trace::{Role, Step};
use sha2::{Digest as _, Sha256};

/// The kind of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// Context. It is left out of comparisons.
    System,
    /// Text of the person.
    User,
    /// Text of the agent.
    Text,
    /// A tool call.
    Call,
    /// A tool's result.
    Result,
}

/// A turn, as far as it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) kind: MarkKind,
    /// Whether it says so little that a richer one in its place is the same turn better recorded: a call without arguments, a
    /// result without content, the text `None`.
    pub(super) hollow: bool,
    /// First half of the digest of its normalised form, call id left out.
    pub(super) digest: u128,
    /// First eight bytes of the digest of its call id; 0 if it has none.
    pub(super) call_id: u64,
    /// The step that it became.
    pub(super) step: u32,
}

/// First eight bytes of the digest of an id; never 0.
pub(super) fn short(id: &str) -> u64 {
    let digest = Sha256::digest(id.as_bytes());
    let bytes: [u8; 8] = std::array::from_fn(|n| digest.get(n).copied().unwrap_or(0));
    u64::from_be_bytes(bytes).max(1)
}

/// Digest of a tool's name and its arguments.
pub(super) fn signature(tool: &str, input: Option<&Object>) -> u128 {
    let arguments = input.filter(|input| !input.is_empty()).map_or_else(|| "{}".to_owned(), canonical_json);
    digest(&["call", tool, &arguments])
}

fn digest(fields: &[&str]) -> u128 {
    let mut hash = Sha256::new();
    for field in fields {
        hash.update((field.len() as u64).to_be_bytes());
        hash.update(field.as_bytes());
    }
    let digest = hash.finalize();
    let bytes: [u8; 16] = std::array::from_fn(|n| digest.get(n).copied().unwrap_or(0));
    u128::from_be_bytes(bytes)
}

impl Mark {
    /// The mark of an atomic step.
    pub(super) fn of(step: &Step) -> Self {
        let text = step.content.trim();
        let (kind, digest, hollow) = match (step.role, &step.tool_name) {
            (Role::System, _) => (MarkKind::System, digest(&["system", text]), false),
            (Role::User, _) => (MarkKind::User, digest(&["user", text]), false),
            (Role::Tool, _) => (MarkKind::Result, digest(&["tool", text]), text.is_empty()),
            (Role::Assistant, None) => {
                (MarkKind::Text, digest(&["assistant", text]), matches!(text, "None" | "null" | ""))
            }
            (Role::Assistant, Some(tool)) => {
                let input = step.tool_input.as_ref();
                (MarkKind::Call, signature(tool, input), input.is_none_or(Object::is_empty))
            }
        };
        let call_id = step.tool_call_id.as_deref().filter(|id| !id.is_empty()).map_or(0, short);
        Self { kind, hollow, digest, call_id, step: 0 }
    }

    /// Whether both are the same turn: equal, with no two different ids, or of the same kind and id.
    pub(super) fn same(&self, other: &Self) -> bool {
        let both = self.call_id != 0 && other.call_id != 0;
        self.kind == other.kind && if both { self.call_id == other.call_id } else { self.digest == other.digest }
    }

    /// Whether the other, in the same place, is this turn better recorded.
    pub(super) fn yields_to(&self, richer: &Self) -> bool {
        let same_turn =
            self.kind == MarkKind::Text && matches!(richer.kind, MarkKind::Text | MarkKind::Call) || self.same(richer);
        self.hollow && !richer.hollow && same_turn
    }
}

impl Packed for Mark {
    fn pack(&self, out: &mut Vec<u8>) {
        let kind = match self.kind {
            MarkKind::System => 0,
            MarkKind::User => 1,
            MarkKind::Text => 2,
            MarkKind::Call => 3,
            MarkKind::Result => 4,
        };
        (kind | u8::from(self.hollow) << 7).pack(out);
        self.digest.pack(out);
        self.call_id.pack(out);
        self.step.pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let first = u8::unpack(bytes)?;
        let kind = match first & 0x7f {
            0 => MarkKind::System,
            1 => MarkKind::User,
            2 => MarkKind::Text,
            3 => MarkKind::Call,
            4 => MarkKind::Result,
            _ => return None,
        };
        let (digest, call_id, step) = (Packed::unpack(bytes)?, Packed::unpack(bytes)?, Packed::unpack(bytes)?);
        Some(Self { kind, hollow: first & 0x80 != 0, digest, call_id, step })
    }
}
