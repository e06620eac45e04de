//! The second pass: steps, in the order found.

use super::entry::{Kind, flag, is_notification, prompt, take_content};
use super::harness;
use super::index::Index;
use super::lines::{Span, read_at};
use super::names::Name;
use super::order::Item;
use super::union::Union;
use crate::formats::common::blocks::{Blocks, Piece, blocks};
use crate::formats::common::fault::{Fault, issue, stop};
use crate::formats::common::record::{Bad, Out};
use crate::formats::common::source::{Place, Source};
use crate::formats::common::time::timestamp;
use crate::formats::common::turns::{Turns, Voice, results_first, usage};
use crate::formats::report::{ISSUES_LISTED_MAX, Issue, ReadError};
use crate::json::{Json, Object};
use crate::trace::Role;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// A message: its id, and how often the person had spoken before it.
type MessageKey = (Name, usize);

/// Writes the steps of the items.
pub(super) fn write(
    source: &mut Source<'_>,
    index: &Index,
    items: &[Item],
    out: &mut Out<'_>,
    warnings: &mut Vec<Issue>,
) -> Result<(), Fault> {
    let keys = keys(index, items);
    let mut lines: BTreeMap<MessageKey, Vec<usize>> = BTreeMap::new();
    for (item, key) in items.iter().zip(&keys) {
        if let (Item::Entry(at), Some(key)) = (item, key) {
            lines.entry(*key).or_default().push(*at);
        }
    }
    lines.retain(|_, entries| entries.len() > 1);
    let (open, current) = (BTreeMap::new(), None);
    let mut writer = Writer { source, index, warnings, turns: Turns::new(true), lines, open, current };
    for (item, key) in items.iter().zip(&keys) {
        writer.item(*item, *key, out)?;
    }
    let start = writer.source.place();
    writer.turns.end(out).map_err(|error| stop(start, "", error))?;
    let lost = writer.turns.reasoning_lost;
    if lost > 0 {
        let message = format!("reasoning was left out {lost} times: no step of the agent goes with it");
        writer.warnings.push(issue(Place { offset: 0, line: 1 }, Bad::new("", message)));
    }
    Ok(())
}

/// The message that each item is a part of.
fn keys(index: &Index, items: &[Item]) -> Vec<Option<MessageKey>> {
    let mut said = 0;
    let key = |item: &Item| {
        let entry = match item {
            Item::Entry(at) => index.entries.get(*at)?,
            Item::Waiting(_) => return None,
        };
        said += usize::from(entry.kind == Kind::User && entry.says && !entry.dropped);
        entry.message.filter(|_| !entry.dropped).map(|message| (message, said))
    };
    items.iter().map(key).collect()
}

/// A message of several lines, when its first one was met.
struct Open {
    pieces: BTreeMap<usize, Vec<Piece>>,
    usage: Object,
    cited: bool,
}

struct Writer<'w, 's> {
    source: &'w mut Source<'s>,
    index: &'w Index,
    warnings: &'w mut Vec<Issue>,
    turns: Turns,
    /// Entries of messages of several lines.
    lines: BTreeMap<MessageKey, Vec<usize>>,
    open: BTreeMap<MessageKey, Open>,
    /// The message whose step may still go on.
    current: Option<MessageKey>,
}

impl Writer<'_, '_> {
    fn item(&mut self, item: Item, key: Option<MessageKey>, out: &mut Out<'_>) -> Result<(), Fault> {
        let (span, entry) = match item {
            Item::Entry(at) => match self.index.entries.get(at) {
                Some(entry) if !entry.dropped && entry.kind != Kind::Link => (entry.span, Some(at)),
                _ => return Ok(()),
            },
            Item::Waiting(at) => match self.index.waiting.get(at) {
                Some(waiting) => (waiting.span, None),
                None => return Ok(()),
            },
        };
        let entry = entry.and_then(|at| Some((at, self.index.entries.get(at)?)));
        if let (Some((at, entry)), Some(key)) = (entry, key)
            && let (Kind::Assistant, Some(time), true) = (entry.kind, entry.time, self.lines.contains_key(&key))
        {
            // Its lines are read when the first of them is met, all together.
            let moment = Timestamp::from_nanosecond(i128::from(time)).map(|moment| moment.to_string());
            let each = moment.map(|moment| Object::of("timestamp", moment)).unwrap_or_default();
            self.agent(at, Json::Null, Some(key), each, span, out)?;
            self.note(span, out.warnings.drain(..));
            return Ok(());
        }
        let mut line = self.load(span)?;
        let mut each = Object::new();
        if let Some(moment) = line.get("timestamp").and_then(timestamp) {
            each.insert("timestamp", moment);
        }
        let is_notification = is_notification(&line);
        match entry.map(|(at, entry)| (entry.kind, at)) {
            Some((Kind::Assistant, at)) => self.agent(at, line, key, each, span, out)?,
            Some((Kind::Queued, _)) => self.person(prompt(&line), is_notification, each, span, out)?,
            Some((Kind::User, _)) if flag(&line, "isCompactSummary") => self.summary(line, each, span, out)?,
            Some(_) => self.person(take_content(&mut line), is_notification, each, span, out)?,
            None => self.person(line.take("content").unwrap_or(Json::Null), false, each, span, out)?,
        }
        self.note(span, out.warnings.drain(..));
        Ok(())
    }

    fn load(&mut self, span: Span) -> Result<Json, Fault> {
        match read_at(self.source, span)? {
            Ok((line, _)) => Ok(line),
            Err(_) => Err(Fault::Fatal(ReadError::Io(std::io::Error::other("the input changed while it was read")))),
        }
    }

    fn note(&mut self, span: Span, warnings: impl Iterator<Item = Bad>) {
        for warning in warnings {
            if self.warnings.len() < ISSUES_LISTED_MAX {
                self.warnings.push(issue(span.start, warning));
            }
        }
    }

    fn blocks(&mut self, span: Span, content: Json) -> Blocks {
        let mut found = blocks(content);
        self.note(span, found.warnings.drain(..).map(|warning| Bad::new("message.content", warning)));
        found
    }

    /// A line of the agent; its JSON is looked at only if its message has no other.
    fn agent(
        &mut self,
        at: usize,
        mut line: Json,
        key: Option<MessageKey>,
        each: Object,
        span: Span,
        out: &mut Out<'_>,
    ) -> Result<(), Fault> {
        let mut voice = Voice::new(Role::Assistant);
        voice.each = each;
        let pieces = match key.filter(|key| self.lines.contains_key(key)) {
            Some(key) => {
                self.unite(key)?;
                let Some(open) = self.open.get_mut(&key) else { return Ok(()) };
                let pieces = open.pieces.remove(&at).unwrap_or_default();
                voice.glued = open.cited;
                if pieces.iter().any(|piece| matches!(piece, Piece::Text(_) | Piece::Mark(_) | Piece::Call(_))) {
                    voice.agent = std::mem::take(&mut open.usage);
                }
                if open.pieces.is_empty() {
                    self.open.remove(&key);
                    // The lines of a message that says nothing have no piece: the next must not unite them all again.
                    self.lines.entry(key).and_modify(Vec::clear);
                }
                pieces
            }
            None => {
                voice.agent = usage_of(&line);
                let found = self.blocks(span, take_content(&mut line));
                voice.glued = found.cited;
                found.pieces
            }
        };
        if pieces.is_empty() {
            return Ok(());
        }
        let begun = if key.is_some() && self.current == key {
            self.turns.go_on(voice);
            Ok(())
        } else {
            self.turns.begin(voice, out)
        };
        self.current = key;
        begun
            .and_then(|()| pieces.into_iter().try_for_each(|piece| self.turns.piece(piece, out)))
            .map_err(|error| stop(span.start, "message", error))
    }

    /// Unites the lines of a message, when the first of them is met.
    fn unite(&mut self, key: MessageKey) -> Result<(), Fault> {
        if self.open.contains_key(&key) {
            return Ok(());
        }
        let Some(entries) = self.lines.get(&key).cloned() else { return Ok(()) };
        let mut union = Union::default();
        for at in entries {
            let Some(span) = self.index.entries.get(at).map(|entry| entry.span) else { continue };
            let mut line = self.load(span)?;
            let usage = usage_of(&line);
            let found = self.blocks(span, take_content(&mut line));
            if !usage.is_empty() {
                union.usage = usage;
            }
            union.take(at, found).map_err(|bad| Fault::Bad(issue(span.start, bad), false))?;
        }
        let (usage, cited) = (std::mem::take(&mut union.usage), union.cited);
        self.open.insert(key, Open { pieces: union.finish(), usage, cited });
        Ok(())
    }

    /// A line of the person, of results, or of what the harness wrote in the person's place.
    fn person(
        &mut self,
        content: Json,
        is_notification: bool,
        each: Object,
        span: Span,
        out: &mut Out<'_>,
    ) -> Result<(), Fault> {
        let mut pieces = self.blocks(span, content).pieces;
        results_first(&mut pieces);
        let mut is_harness = None;
        let mut say = |turns: &mut Turns, by_harness: bool, piece: Piece| {
            if is_harness != Some(by_harness) {
                is_harness = Some(by_harness);
                let mut voice = Voice::new(if by_harness { Role::System } else { Role::User });
                voice.each = each.clone();
                if by_harness {
                    voice.each.insert("injected", true);
                }
                turns.begin(voice, out)?;
            }
            turns.piece(piece, out)
        };
        self.current = None;
        let turns = &mut self.turns;
        let said = pieces.into_iter().try_for_each(|piece| match piece {
            Piece::Text(text) if harness::is_local_output(&text) => Ok(()),
            Piece::Text(text) if is_notification => say(turns, true, Piece::Text(text)),
            Piece::Text(text) => {
                let (before, prompt) = harness::split(&text);
                if !before.is_empty() {
                    say(turns, true, Piece::Text(before.to_owned()))?;
                }
                if prompt.trim().is_empty() { Ok(()) } else { say(turns, false, Piece::Text(prompt.to_owned())) }
            }
            other => say(turns, false, other),
        });
        said.and_then(|()| self.turns.end(out)).map_err(|error| stop(span.start, "message", error))
    }

    /// The summary of a compaction.
    fn summary(&mut self, mut line: Json, each: Object, span: Span, out: &mut Out<'_>) -> Result<(), Fault> {
        let texts = self.blocks(span, take_content(&mut line)).pieces.into_iter().filter_map(|piece| match piece {
            Piece::Text(text) | Piece::Mark(text) => Some(text),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        let mut voice = Voice::new(Role::User);
        voice.each = each;
        self.current = None;
        let begun = self.turns.begin(voice, out);
        begun
            .and_then(|()| self.turns.piece(Piece::Compaction(text), out))
            .map_err(|error| stop(span.start, "message", error))
    }
}

fn usage_of(line: &Json) -> Object {
    line.get("message").and_then(|message| message.get("usage")).map(usage).unwrap_or_default()
}
