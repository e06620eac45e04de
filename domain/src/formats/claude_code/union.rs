//! One message from several lines: each holds a block of it, or the whole as it was then.
//!
//! A call and a result are known by their id, a text by a later text that goes on from it: what is known stays in its first
//! place and takes its last form. What is new is added. Lines of one id are one message as long as the person says nothing
//! in between, because some gateways give every message the same id.

use crate::formats::common::blocks::{Blocks, Piece};
use crate::formats::common::record::Bad;
use crate::json::Object;
use crate::limits::SESSION_MESSAGE_BYTES_MAX;
use std::collections::BTreeMap;

/// Texts of earlier lines that a text is compared with. Messages of more texts than this are not rewritten as a whole.
const TEXTS_COMPARED_MAX: usize = 64;

/// What a piece takes beside its text.
const PIECE_BYTES: usize = 128;

/// A message as its lines are taken, one by one.
#[derive(Default)]
pub(super) struct Union {
    /// Each piece, and the entry in whose place it stands.
    pieces: Vec<(usize, Piece)>,
    /// Places of calls and results by their id.
    calls: BTreeMap<String, usize>,
    results: BTreeMap<String, usize>,
    bytes: usize,
    /// What the last line says of tokens; its count is the whole message's.
    pub(super) usage: Object,
    /// Whether its texts join without a line feed.
    pub(super) cited: bool,
}

impl Union {
    /// Takes the next line: the blocks of an entry.
    pub(super) fn take(&mut self, entry: usize, blocks: Blocks) -> Result<(), Bad> {
        self.cited |= blocks.cited;
        let lines_before = self.pieces.len();
        let mut matched = Vec::new();
        for piece in blocks.pieces {
            let known = match &piece {
                Piece::Call(call) => call.id.as_ref().and_then(|id| self.calls.get(id).copied()),
                Piece::Result(answer) => answer.id.as_ref().and_then(|id| self.results.get(id).copied()),
                _ => self.earlier_text(&piece, lines_before, &matched),
            };
            match known {
                Some(at) => {
                    matched.push(at);
                    self.replace(at, piece);
                }
                None => self.add(entry, piece),
            }
            if self.bytes > SESSION_MESSAGE_BYTES_MAX {
                let message = format!("the lines of one message have more than {SESSION_MESSAGE_BYTES_MAX} bytes");
                return Err(Bad::new("message", message));
            }
        }
        Ok(())
    }

    fn earlier_text(&self, piece: &Piece, before: usize, matched: &[usize]) -> Option<usize> {
        let earlier = self.pieces.get(..before)?.iter().enumerate().rev().take(TEXTS_COMPARED_MAX);
        let fits = |at: &usize, held: &Piece| !matched.contains(at) && goes_on(held, piece);
        earlier.filter(|(at, (_, held))| fits(at, held)).map(|(at, _)| at).min()
    }

    fn add(&mut self, entry: usize, piece: Piece) {
        let at = self.pieces.len();
        match &piece {
            Piece::Call(call) => call.id.clone().map(|id| self.calls.insert(id, at)),
            Piece::Result(answer) => answer.id.clone().map(|id| self.results.insert(id, at)),
            _ => None,
        };
        self.bytes += bytes(&piece);
        self.pieces.push((entry, piece));
    }

    fn replace(&mut self, at: usize, piece: Piece) {
        let Some((_, held)) = self.pieces.get_mut(at) else { return };
        let (old, new) = (bytes(held), bytes(&piece));
        // A call's last form is the fullest: an earlier one may have had no arguments yet.
        if new >= old || !matches!(piece, Piece::Call(_)) {
            self.bytes = self.bytes.saturating_sub(old) + new;
            *held = piece;
        }
    }

    /// The pieces of each entry. Reasoning at the end of one is moved to the next, with whose step it goes.
    pub(super) fn finish(self) -> BTreeMap<usize, Vec<Piece>> {
        let mut of_entries: BTreeMap<usize, Vec<Piece>> = BTreeMap::new();
        let mut waiting = Vec::new();
        let mut last = None;
        for (entry, piece) in self.pieces {
            last = Some(entry);
            if matches!(piece, Piece::Reasoning(_)) {
                waiting.push(piece);
            } else {
                let pieces = of_entries.entry(entry).or_default();
                pieces.append(&mut waiting);
                pieces.push(piece);
            }
        }
        if let Some(last) = last {
            of_entries.entry(last).or_default().append(&mut waiting);
        }
        of_entries
    }
}

/// Whether a text is an earlier one that has grown, or the same.
fn goes_on(held: &Piece, piece: &Piece) -> bool {
    match (held, piece) {
        (Piece::Text(held), Piece::Text(text))
        | (Piece::Mark(held), Piece::Mark(text))
        | (Piece::Reasoning(held), Piece::Reasoning(text))
        | (Piece::Compaction(held), Piece::Compaction(text)) => !held.trim().is_empty() && text.starts_with(held),
        _ => false,
    }
}

fn bytes(piece: &Piece) -> usize {
    PIECE_BYTES
        + match piece {
            Piece::Text(text) | Piece::Mark(text) | Piece::Reasoning(text) | Piece::Compaction(text) => text.len(),
            Piece::Call(call) => call.name.len() + serde_json::to_string(&call.input).map_or(0, |input| input.len()),
            Piece::Result(answer) => answer.text.len(),
            Piece::Note(note) => note.1.compact().len(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::common::blocks::blocks;

    fn united(lines: &[&str]) -> Vec<Piece> {
        let mut union = Union::default();
        for (at, line) in lines.iter().enumerate() {
            union.take(at, blocks(serde_json::from_str(line).unwrap())).unwrap();
        }
        union.finish().into_values().flatten().collect()
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn growing_snapshots_give_their_last_form() {
        let found = united(&[
            r#"[{"type":"text","text":"Loo"}]"#,
            r#"[{"type":"text","text":"Look"},{"type":"tool_use","id":"t","name":"f","input":{}}]"#,
            r#"[{"type":"text","text":"Look"},{"type":"tool_use","id":"t","name":"f","input":{"a":1}},{"type":"text","text":"!"}]"#,
        ]);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], text("Look"));
        assert!(matches!(&found[1], Piece::Call(call) if call.input.contains_key("a")));
        assert_eq!(found[2], text("!"));
    }

    #[test]
    fn blocks_on_lines_of_their_own_are_all_kept() {
        let found = united(&[
            r#"[{"type":"thinking","thinking":"hm"}]"#,
            r#"[{"type":"text","text":"One"}]"#,
            r#"[{"type":"text","text":"Two"},{"type":"text","text":"Two"}]"#,
        ]);
        assert_eq!(found, [Piece::Reasoning("hm".to_owned()), text("One"), text("Two"), text("Two")]);
    }
}
