//! What is remembered of a line: enough to find the order of the session, not what it says.

use super::harness;
use super::lines::Span;
use super::names::{Name, Names};
use crate::formats::common::blocks::{Piece, blocks};
use crate::formats::common::record::Bad;
use crate::formats::common::time::moment;
use crate::json::Json;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

/// What a line may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A message of the person, or results.
    User,
    /// A message of the agent, or a part of one.
    Assistant,
    /// A prompt given while the agent was at work.
    Queued,
    /// A command typed by the person that the harness itself answered.
    Command,
    /// Nothing; others may hang on it.
    Link,
}

/// A line that has a place in the chain.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) span: Span,
    pub(super) kind: Kind,
    pub(super) uuid: Option<Name>,
    pub(super) parent: Option<Name>,
    /// What came before it, where the chain was cut by a compaction.
    pub(super) logical: Option<Name>,
    pub(super) session: Option<Name>,
    /// Id of the message that the line is a part of.
    pub(super) message: Option<Name>,
    /// The subagent, if it is a line of one; some have no id.
    pub(super) side: Option<Option<Name>>,
    /// Whether it never is a step: written by the harness, or in place of an answer.
    pub(super) dropped: bool,
    /// Whether the person says something in it.
    pub(super) says: bool,
    /// Nanoseconds since the epoch.
    pub(super) time: Option<i64>,
    /// Ids of the calls in it.
    pub(super) calls: Box<[Name]>,
    /// Ids of the calls that it answers.
    pub(super) answers: Box<[Name]>,
}

/// Digest of a text, to know it again.
pub(super) type TextDigest = [u8; 16];

/// The digest of a text without white space around it.
pub(super) fn text_digest(text: &str) -> TextDigest {
    let mut short = TextDigest::default();
    short.iter_mut().zip(Sha256::digest(text.trim())).for_each(|(to, from)| *to = from);
    short
}

/// A text field that is not empty.
pub(super) fn text<'j>(line: &'j Json, key: &str) -> Option<&'j str> {
    line.get(key).and_then(Json::as_text).filter(|text| !text.is_empty())
}

/// Whether a field is `true`.
pub(super) fn flag(line: &Json, key: &str) -> bool {
    line.get(key) == Some(&Json::Bool(true))
}

/// Whether the line is one of a subagent. A team's name alone does not make it one: the lead's lines carry it too.
pub(super) fn is_side(line: &Json) -> bool {
    flag(line, "isSidechain") || text(line, "agentId").is_some()
}

/// When the line was written.
pub(super) fn time(line: &Json) -> Option<i64> {
    let moment = moment(line.get("timestamp")?)?;
    i64::try_from(moment.as_nanosecond()).ok()
}

/// Takes the content of a line's message out of it; a message may be its content itself.
pub(super) fn take_content(line: &mut Json) -> Json {
    match line.get_mut("message") {
        Some(message @ Json::Object(_)) => message.take("content"),
        Some(other) => Some(std::mem::replace(other, Json::Null)),
        None => line.take("content"),
    }
    .unwrap_or(Json::Null)
}

/// The prompt of an attachment.
pub(super) fn prompt(line: &Json) -> Json {
    line.get("attachment").and_then(|attachment| attachment.get("prompt")).cloned().unwrap_or(Json::Null)
}

/// Whether the line tells of a task's end in the person's place.
pub(super) fn is_notification(line: &Json) -> bool {
    let attachment = line.get("attachment").unwrap_or(&Json::Null);
    let mode = attachment.get("commandMode").and_then(Json::as_text);
    let origin = line.get("origin").or_else(|| attachment.get("origin"));
    let kind = origin.and_then(|origin| origin.get("kind")).and_then(Json::as_text);
    [kind, mode].contains(&Some("task-notification"))
}

/// The kind of a line; none if it has no place in the chain.
fn kind(line: &Json) -> Option<Kind> {
    match line.get("type").and_then(Json::as_text)? {
        "user" => Some(Kind::User),
        "assistant" => Some(Kind::Assistant),
        "attachment" => {
            let kind = line.get("attachment").and_then(|attachment| attachment.get("type")).and_then(Json::as_text);
            let has_place = kind == Some("queued_command") || line.get("uuid").is_some();
            has_place.then_some(if kind == Some("queued_command") { Kind::Queued } else { Kind::Link })
        }
        "system" if line.get("subtype").and_then(Json::as_text) == Some("local_command") => Some(Kind::Command),
        _ => line.get("uuid").is_some().then_some(Kind::Link),
    }
}

/// Takes what is to be remembered of a line, and its content; none if it has no place in the chain. What the person says in it is
/// noted.
pub(super) fn entry(
    line: &mut Json,
    span: Span,
    names: &mut Names,
    said: &mut BTreeSet<TextDigest>,
) -> Result<Option<Entry>, Bad> {
    let Some(kind) = kind(line) else { return Ok(None) };
    let mut name = |text: Option<&str>| text.map(|text| names.of(text)).transpose();
    let message = line.get("message").unwrap_or(&Json::Null);
    let side = is_side(line).then_some(name(text(line, "agentId"))?);
    let meta = flag(line, "isMeta") && !flag(line, "isCompactSummary");
    let failed = flag(line, "isApiErrorMessage") || text(message, "model") == Some("<synthetic>");
    let mut entry = Entry {
        span,
        kind,
        uuid: name(text(line, "uuid"))?,
        parent: name(text(line, "parentUuid"))?,
        logical: name(text(line, "logicalParentUuid"))?,
        session: name(text(line, "sessionId"))?,
        message: if kind == Kind::Assistant { name(text(message, "id"))? } else { None },
        side,
        dropped: meta || kind == Kind::Assistant && failed,
        says: false,
        time: time(line),
        calls: Box::default(),
        answers: Box::default(),
    };
    if kind == Kind::Link {
        return Ok(Some(entry));
    }
    let found = blocks(if kind == Kind::Queued { prompt(line) } else { take_content(line) });
    let (mut calls, mut answers, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for piece in found.pieces {
        match piece {
            Piece::Call(call) => calls.extend(name(call.id.as_deref())?),
            Piece::Result(answer) => answers.extend(name(answer.id.as_deref())?),
            Piece::Text(text) if kind != Kind::Assistant => texts.push(text),
            Piece::Mark(_) => entry.says = true,
            _ => {}
        }
    }
    if kind != Kind::Assistant && !meta {
        for text in &texts {
            let (_, prompt) = harness::split(text);
            entry.says |= !prompt.trim().is_empty() && !harness::is_local_output(text);
            said.extend([text_digest(text), text_digest(prompt)]);
        }
        said.insert(text_digest(&texts.join("\n")));
    }
    entry.says &= kind != Kind::Assistant && !flag(line, "isCompactSummary");
    (entry.calls, entry.answers) = (calls.into(), answers.into());
    Ok(Some(entry))
}
