//! The tree of the spans so far, as far as merging needs it: who is above whom, and which agent is nearest.

use super::SourceKind;
use super::packed::Packed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Spans looked at on the way up. A longer way, or one that is a ring, ends there.
const ANCESTORS_MAX: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The parent's short id; 0 for none.
    pub(super) parent: u64,
    pub(super) kind: SourceKind,
    /// Whether it has turns of its own.
    pub(super) speaks: bool,
    /// Whether it, or a span below it, was merged as a call.
    pub(super) covers: bool,
    /// Whether it was merged as a call itself.
    pub(super) merged: bool,
}

impl Packed for Node {
    fn pack(&self, out: &mut Vec<u8>) {
        let kind = match self.kind {
            SourceKind::Llm => 0_u8,
            SourceKind::Agent => 1,
            SourceKind::Tool => 2,
            SourceKind::Other => 3,
        };
        self.parent.pack(out);
        let flags = [self.speaks, self.covers, self.merged].map(u8::from);
        (kind | flags[0] << 2 | flags[1] << 3 | flags[2] << 4).pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let parent = u64::unpack(bytes)?;
        let flags = u8::unpack(bytes)?;
        let kind = match flags & 3 {
            0 => SourceKind::Llm,
            1 => SourceKind::Agent,
            2 => SourceKind::Tool,
            _ => SourceKind::Other,
        };
        Some(Self { parent, kind, speaks: flags & 4 != 0, covers: flags & 8 != 0, merged: flags & 16 != 0 })
    }
}

/// All spans so far, by short id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tree {
    #[serde(with = "super::packed")]
    nodes: BTreeMap<u64, Node>,
    /// Parents that are named but absent, and whether a span below was merged as a call.
    #[serde(with = "super::packed")]
    absent: BTreeMap<u64, bool>,
    /// Whether a merged call has a line of ancestors that is complete and holds no agent.
    #[serde(with = "super::packed")]
    covered_to_root: bool,
}

impl Tree {
    pub(super) fn contains(&self, id: u64) -> bool {
        self.nodes.contains_key(&id)
    }

    pub(super) fn get(&self, id: u64) -> Option<Node> {
        self.nodes.get(&id).copied()
    }

    /// Whether merged calls stand below a span that is named as a parent but absent.
    pub(super) fn awaits(&self, id: u64) -> bool {
        self.absent.get(&id).copied().unwrap_or(false)
    }

    /// Whether all merged calls stand below this absent span, and none below an agent.
    pub(super) fn all_below(&self, id: u64) -> bool {
        let others = self.absent.iter().any(|(other, covers)| *covers && *other != id);
        let agents = self.nodes.values().any(|node| node.covers && node.kind == SourceKind::Agent);
        !others && !agents && !self.covered_to_root
    }

    /// Adds a span.
    pub(super) fn insert(&mut self, id: u64, parent: u64, kind: SourceKind, speaks: bool) {
        let covers = self.absent.remove(&id).unwrap_or(false);
        self.nodes.insert(id, Node { parent, kind, speaks, covers: false, merged: false });
        if parent != 0 && !self.contains(parent) {
            self.absent.entry(parent).or_insert(false);
        }
        if covers {
            self.cover(id);
        }
    }

    /// The spans above one, nearest first.
    pub(super) fn above(&self, id: u64) -> impl Iterator<Item = (u64, Node)> + '_ {
        let mut at = self.get(id).map_or(0, |node| node.parent);
        std::iter::from_fn(move || {
            let node = self.get(at)?;
            let found = (at, node);
            at = node.parent;
            Some(found)
        })
        .take_while(move |(above, _)| *above != id)
        .take(ANCESTORS_MAX)
    }

    /// The nearest agent above; 0 if there is none.
    pub(super) fn agent_of(&self, id: u64) -> u64 {
        self.above(id).find(|(_, node)| node.kind == SourceKind::Agent).map_or(0, |(agent, _)| agent)
    }

    /// Notes that a span was merged as a call.
    pub(super) fn merged(&mut self, id: u64) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.merged = true;
        }
        self.cover(id);
    }

    fn cover(&mut self, id: u64) {
        let mut line: Vec<u64> = vec![id];
        line.extend(self.above(id).map(|(above, _)| above));
        let top = line.last().and_then(|top| self.get(*top)).map_or(0, |node| node.parent);
        if let Some(covers) = self.absent.get_mut(&top) {
            *covers = true;
        } else if !line.iter().any(|id| self.get(*id).is_some_and(|node| node.kind == SourceKind::Agent)) {
            self.covered_to_root = true;
        }
        for id in line {
            if let Some(node) = self.nodes.get_mut(&id) {
                node.covers = true;
            }
        }
    }
}
