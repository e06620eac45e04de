//! Subagents whose lines stand in the main file: a span each, from its first line to its last, with the prompt it was given and
//! its last words.

use super::entry::{Entry, Kind, take_content, text};
use super::index::Index;
use super::lines::{Span as LineSpan, read_at};
use super::names::Name;
use crate::formats::common::blocks::{Piece, blocks};
use crate::formats::common::fault::{Fault, stop};
use crate::formats::common::record::Out;
use crate::formats::common::source::Source;
use crate::json::Json;
use crate::trace::Span;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a subagent.
struct Subagent {
    first: LineSpan,
    start: i64,
    end: i64,
    prompt: Option<LineSpan>,
    answer: Option<LineSpan>,
}

/// Writes the spans. Lines without a time give none: a span has a beginning and an end.
pub(super) fn write(
    source: &mut Source<'_>,
    index: &Index,
    parents: &[Option<usize>],
    out: &mut Out<'_>,
) -> Result<(), Fault> {
    if index.is_side_file {
        return Ok(());
    }
    let mut ids = BTreeSet::new();
    let subagents = subagents(index, parents);
    let mut untimed = 0_u64;
    for subagent in subagents {
        let first = load(source, subagent.first)?;
        let agent = text(&first, "agentId");
        let id = agent.or_else(|| text(&first, "uuid")).map(str::to_owned);
        let (Ok(start_ns), Ok(end_ns)) = (u64::try_from(subagent.start), u64::try_from(subagent.end)) else {
            untimed += 1;
            continue;
        };
        let Some(id) = id.filter(|id| start_ns > 0 && ids.insert(id.clone())) else {
            untimed += 1;
            continue;
        };
        let mut said =
            |span: Option<LineSpan>| span.map(|span| load(source, span).map(|mut line| words(&mut line))).transpose();
        let span = Span {
            name: agent.unwrap_or("subagent").to_owned(),
            id,
            parent_id: None,
            kind: Some("agent".to_owned()),
            start_ns,
            end_ns,
            input: said(subagent.prompt)?,
            output: said(subagent.answer)?,
            step_indices: Vec::new(),
        };
        out.span(span).map_err(|error| stop(subagent.first.start, "", error))?;
    }
    if untimed > 0 {
        out.warn("", format!("{untimed} subagents were left out: their lines have no time or no id"));
    }
    Ok(())
}

fn load(source: &mut Source<'_>, span: LineSpan) -> Result<Json, Fault> {
    Ok(read_at(source, span)?.map_or(Json::Null, |(line, _)| line))
}

fn words(line: &mut Json) -> String {
    let texts = blocks(take_content(line)).pieces.into_iter().filter_map(|piece| match piece {
        Piece::Text(text) | Piece::Mark(text) => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The subagents in the order of their first lines. Lines without an agent's id belong to the chain they hang on.
fn subagents(index: &Index, parents: &[Option<usize>]) -> Vec<Subagent> {
    let mut found: Vec<Subagent> = Vec::new();
    let mut by_agent: BTreeMap<Name, usize> = BTreeMap::new();
    // The subagent of each line.
    let mut of_lines: Vec<Option<usize>> = vec![None; index.entries.len()];
    for (at, entry) in index.entries.iter().enumerate() {
        let Some(agent) = entry.side.filter(|_| entry.kind != Kind::Link && !entry.dropped) else { continue };
        let above = parents.get(at).copied().flatten().and_then(|parent| of_lines.get(parent).copied().flatten());
        let number = match agent {
            Some(agent) => *by_agent.entry(agent).or_insert(found.len()),
            None => above.unwrap_or(found.len()),
        };
        if number == found.len() {
            found.push(Subagent { first: entry.span, start: i64::MAX, end: i64::MIN, prompt: None, answer: None });
        }
        if let Some(of_line) = of_lines.get_mut(at) {
            *of_line = Some(number);
        }
        if let Some(subagent) = found.get_mut(number) {
            take(subagent, entry);
        }
    }
    found
}

fn take(subagent: &mut Subagent, entry: &Entry) {
    if let Some(time) = entry.time {
        subagent.start = subagent.start.min(time);
        subagent.end = subagent.end.max(time);
    }
    match entry.kind {
        Kind::User if subagent.prompt.is_none() => subagent.prompt = Some(entry.span),
        // A line of calls alone has no words.
        Kind::Assistant if entry.calls.is_empty() => subagent.answer = Some(entry.span),
        _ => {}
    }
}
