//! The first pass: every line is read once, and what its order and the head of the trace depend on is remembered.

use super::entry::{Entry, TextDigest, entry, flag, is_side, text, text_digest, time};
use super::facts::Facts;
use super::lines::{Read, Span, Trouble, each};
use super::names::{Name, Names};
use crate::formats::common::blocks::{Piece, blocks};
use crate::formats::common::fault::{Fault, issue};
use crate::formats::common::record::Bad;
use crate::formats::common::source::{Place, Source};
use crate::formats::refused::refused;
use crate::formats::report::{Issue, OnError, ReadError};
use crate::json::Json;
use crate::json::parse::too_many_parts;
use crate::limits::{SESSION_IDS_MAX, SESSION_LINES_MAX, STEP_BYTES_MAX};
use std::collections::{BTreeMap, BTreeSet};

/// A prompt that waited in the queue.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) span: Span,
    pub(super) time: Option<i64>,
    /// Entries before it in the file.
    pub(super) entries_before: usize,
    digest: TextDigest,
    /// Whether the line put it into the queue, rather than took it out.
    is_put: bool,
}

/// What the first pass found.
#[derive(Default)]
pub(super) struct Index {
    pub(super) names: Names,
    pub(super) entries: Vec<Entry>,
    /// The entry of a uuid; of several the first.
    pub(super) by_uuid: BTreeMap<Name, usize>,
    /// Prompts that stand in the queue and nowhere else.
    pub(super) waiting: Vec<Waiting>,
    pub(super) facts: Facts,
    /// The same of lines of subagents.
    side_facts: Facts,
    /// Whether the file is of one subagent: then its lines are the conversation.
    pub(super) is_side_file: bool,
    /// Whether any text may hold NUL.
    pub(super) nul: bool,
    pub(super) warnings: Vec<Issue>,
    /// Texts that the person said, as digests.
    said: BTreeSet<TextDigest>,
    /// The same of lines of subagents.
    side_said: BTreeSet<TextDigest>,
    /// Why the file is none of this format, if its first lines look like another known shape.
    stranger: Option<(Place, &'static str)>,
    lines: usize,
    /// Ids of calls in all entries.
    references: usize,
}

/// Lines that are asked whether they are of another known shape.
const STRANGERS_LOOKED_AT_MAX: usize = 50;

impl Index {
    /// Reads the file. None if it is empty.
    pub(super) fn build(source: &mut Source<'_>, on_error: OnError) -> Result<Option<Self>, Fault> {
        let mut index = Self::default();
        let any = each(source, |span, read| index.line(span, read, on_error))?;
        if let Some((place, why)) = index.stranger.filter(|_| !index.facts.has_session) {
            return Err(Fault::Bad(issue(place, Bad::new("", why)), false));
        }
        index.finish();
        Ok(any.then_some(index))
    }

    /// Whether the line may be a step of the conversation.
    pub(super) fn is_main(&self, entry: &Entry) -> bool {
        self.is_side_file || entry.side.is_none()
    }

    fn line(&mut self, span: Span, read: Read, on_error: OnError) -> Result<(), Fault> {
        let (line, cleaned) = match read {
            Ok(read) => read,
            Err(Trouble::Damaged(why)) => {
                self.warn(span, format!("the line was left out: not valid JSON: {why}"));
                return Ok(());
            }
            Err(trouble @ (Trouble::TooLarge | Trouble::TooManyParts)) => {
                let message = match trouble {
                    Trouble::TooManyParts => too_many_parts(),
                    _ => format!("the line is larger than allowed: it may have {STEP_BYTES_MAX} bytes"),
                };
                if on_error == OnError::Fail {
                    return Err(Fault::Bad(issue(span.start, Bad::new("", message)), false));
                }
                self.warn(span, format!("{message}; it was left out"));
                return Ok(());
            }
        };
        if cleaned.surrogates {
            self.warn(span, "lone surrogates in text were replaced by U+FFFD".to_owned());
        }
        self.nul |= cleaned.nul;
        if !matches!(line, Json::Object(_)) {
            self.warn(span, format!("the line was left out: it is {}, not an object", line.kind()));
            return Ok(());
        }
        self.object(line, span).map_err(|bad| Fault::Bad(issue(span.start, bad), false))
    }

    fn object(&mut self, mut line: Json, span: Span) -> Result<(), Bad> {
        let line = &mut line;
        self.lines += 1;
        if self.lines <= STRANGERS_LOOKED_AT_MAX && self.stranger.is_none() {
            self.stranger = refused(line).map(|why| (span.start, why));
        }
        self.facts.line(line, span, &mut self.names)?;
        if text(line, "type") == Some("queue-operation") {
            return self.waiting_prompt(line, span);
        }
        let is_side = is_side(line);
        let said = if is_side { &mut self.side_said } else { &mut self.said };
        let Some(entry) = entry(line, span, &mut self.names, said)? else { return Ok(()) };
        if let Some(uuid) = entry.uuid {
            // A resumed session and a repeated compaction write lines once more.
            if self.by_uuid.contains_key(&uuid) {
                return Ok(());
            }
            self.by_uuid.insert(uuid, self.entries.len());
        }
        if !entry.dropped && !flag(line, "isMeta") {
            let facts = if is_side { &mut self.side_facts } else { &mut self.facts };
            facts.message(line, entry.message);
        }
        self.references += entry.calls.len() + entry.answers.len();
        self.check_room()?;
        self.entries.push(entry);
        Ok(())
    }

    fn waiting_prompt(&mut self, line: &Json, span: Span) -> Result<(), Bad> {
        let content = line.get("content").cloned().unwrap_or(Json::Null);
        let texts = blocks(content).pieces.into_iter().filter_map(|piece| match piece {
            Piece::Text(text) | Piece::Mark(text) => Some(text),
            _ => None,
        });
        let joined = texts.collect::<Vec<_>>().join("\n");
        if joined.trim().is_empty() {
            return Ok(());
        }
        self.check_room()?;
        let is_put = text(line, "operation").is_none_or(|operation| operation == "enqueue");
        let (digest, entries_before) = (text_digest(&joined), self.entries.len());
        self.waiting.push(Waiting { span, time: time(line), entries_before, digest, is_put });
        Ok(())
    }

    fn check_room(&self) -> Result<(), Bad> {
        if self.entries.len() + self.waiting.len() + self.facts.summaries.len() >= SESSION_LINES_MAX {
            return Err(Bad::new("", format!("the session has more than {SESSION_LINES_MAX} lines; split the file")));
        }
        if self.references.max(self.said.len()).max(self.side_said.len()) > SESSION_IDS_MAX {
            let message =
                format!("the session has more than {SESSION_IDS_MAX} calls and results, or texts; split the file");
            return Err(Bad::new("", message));
        }
        Ok(())
    }

    /// What only the whole file tells.
    fn finish(&mut self) {
        use super::entry::Kind::{Assistant, User};
        let mut spoken = self.entries.iter().filter(|entry| matches!(entry.kind, User | Assistant) && !entry.dropped);
        self.is_side_file = spoken.clone().count() > 0 && spoken.all(|entry| entry.side.is_some());
        if self.is_side_file {
            self.facts.take_messages(std::mem::take(&mut self.side_facts));
            self.said.append(&mut self.side_said);
        }
        // A prompt that was said stands where it was said. One that was only taken out of the queue counts once.
        let put: BTreeSet<TextDigest> = self.waiting.iter().filter(|one| one.is_put).map(|one| one.digest).collect();
        let mut taken = BTreeSet::new();
        let said = std::mem::take(&mut self.said);
        self.waiting.retain(|one| {
            !said.contains(&one.digest) && (one.is_put || !put.contains(&one.digest) && taken.insert(one.digest))
        });
    }

    fn warn(&mut self, span: Span, message: String) {
        if self.warnings.len() < crate::formats::report::ISSUES_LISTED_MAX {
            self.warnings.push(issue(span.start, Bad::new("", message)));
        }
    }
}

/// The error of a file without anything in it.
pub(super) fn empty() -> ReadError {
    let message = "the input is empty; it must hold at least one trace".to_owned();
    ReadError::Input(Issue { line: 1, offset: 0, field: None, message })
}
