//! `claude_code`: the session files of Claude Code, one trace per file.
//!
//! 1. [`index`]: every line is read once. Of each line that has a place in the session its ids, its kind and its time are
//!    remembered, and of the file its title and models.
//! 2. [`chain`]: the lines that are the conversation, without what was taken back.
//! 3. [`order`]: what hangs off the chain and belongs to it comes in.
//! 4. [`steps`]: the lines are read again in this order; [`union`] makes one message of several lines, [`harness`] tells what
//!    the person wrote from what was put in. [`subagents`] become spans.
//!
//! A small file is kept as steps until it is known to be good; of a large one the second pass is made twice. Memory is bounded
//! by the number of lines and ids ([`SESSION_LINES_MAX`](crate::limits::SESSION_LINES_MAX)), never by what they say.

mod chain;
mod entry;
mod facts;
mod harness;
mod index;
mod lines;
mod names;
mod order;
mod steps;
mod subagents;
mod union;

use super::Format;
use super::common::fault::{Fault, issue, sink_error};
use super::common::look::Look;
use super::common::record::{Bad, Out, Target};
use super::common::source::{Place, Source};
use super::detect::Fit;
use super::report::{Issue, Listed, OnError, ReadError, ReadOptions, Report, TraceSink};
use crate::json::{Json, Object};
use crate::trace::TraceHead;
use chain::{Chain, chain};
use facts::Facts;
use index::Index;
use order::{Item, order};

/// The format.
pub(super) struct ClaudeCode;

const NAME: &str = "claude_code";

impl Format for ClaudeCode {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Session transcripts of Claude Code (~/.claude/projects/**/*.jsonl), one trace per file: the conversation without what was \
         taken back, parallel calls, queued prompts, compactions, and subagents as spans. A subagent's own file is a trace too."
    }

    fn fits(&self, look: &Look) -> Fit {
        let text = |key: &str| look.value.get(key).and_then(Json::as_text);
        let kind = text("type").unwrap_or("");
        let in_session = text("sessionId").is_some();
        let chained = in_session && (look.has("uuid") || look.has("parentUuid"));
        let said = in_session && matches!(kind, "user" | "assistant") && look.has("message");
        let beside = match kind {
            "summary" => look.has("leafUuid"),
            "custom-title" => look.has("customTitle"),
            "ai-title" => look.has("aiTitle") || in_session,
            "file-history-snapshot" => look.has("messageId"),
            "queue-operation" => look.has("operation"),
            "tag" | "content-replacement" | "agent_metadata" => in_session,
            _ => false,
        };
        Fit::yes_if(chained || said || beside)
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError> {
        let (warnings, skipped) = (Listed::default(), Listed::default());
        let mut report = Report { format: NAME, traces: 0, steps: 0, spans: 0, bytes: 0, warnings, skipped };
        let start = source.place();
        let done = session(source, options, sink, &mut report);
        match done {
            Ok(()) => {}
            Err(Fault::Fatal(error)) => return Err(error),
            Err(Fault::Bad(issue, _)) if options.on_error == OnError::Skip => {
                report.skipped.push(issue);
                report.bytes = length(source, start)?;
            }
            Err(Fault::Bad(issue, _)) => return Err(ReadError::Input(issue)),
        }
        Ok(report)
    }
}

/// Bytes of the input.
fn length(source: &mut Source<'_>, start: Place) -> Result<u64, ReadError> {
    source.seek(start)?;
    loop {
        let length = source.window()?.len();
        if length == 0 {
            return Ok(source.place().offset);
        }
        source.advance(length)?;
    }
}

/// Reads the file as one trace.
fn session(
    source: &mut Source<'_>,
    options: ReadOptions,
    sink: &mut dyn TraceSink,
    report: &mut Report,
) -> Result<(), Fault> {
    let start = source.place();
    let Some(mut index) = Index::build(source, options.on_error)? else { return Err(Fault::Fatal(index::empty())) };
    report.bytes = source.place().offset;
    let mut warnings = std::mem::take(&mut index.warnings);
    let chain = chain(&index);
    let items = order(&index, &chain);
    let mut head = head(source, &index, &items)?;

    let is_small = report.bytes <= options.record_bytes_in_memory as u64;
    let target = if is_small { Target::Keep { steps: Vec::new(), spans: Vec::new() } } else { Target::Count };
    let mut out = Out::new(target);
    out.nul = index.nul;
    let at_start = |bad: Bad| Fault::Bad(issue(start, bad), false);
    out.head(&mut head).map_err(at_start)?;
    parts(source, &index, &chain, &items, &mut out, &mut warnings)?;
    out.complete().map_err(at_start)?;
    if out.nul_dropped {
        warnings.push(issue(start, Bad::new("", "NUL characters were dropped from text")));
    }
    let (steps, spans) = (out.steps, out.spans);
    sink.begin(head).map_err(sink_error)?;
    if let Target::Keep { steps, spans } = out.target {
        for step in steps {
            sink.step(step.stamped()).map_err(sink_error)?;
        }
        for span in spans {
            sink.span(span).map_err(sink_error)?;
        }
    } else {
        let mut out = Out::new(Target::Sink(sink));
        out.nul = index.nul;
        parts(source, &index, &chain, &items, &mut out, &mut Vec::new()).map_err(|fault| match fault {
            Fault::Bad(..) => Fault::Fatal(ReadError::Io(std::io::Error::other("the input changed while it was read"))),
            fatal @ Fault::Fatal(_) => fatal,
        })?;
    }
    sink.end().map_err(sink_error)?;
    (report.traces, report.steps, report.spans) = (1, u64::from(steps), u64::from(spans));
    warnings.into_iter().for_each(|warning| report.warnings.push(warning));
    Ok(())
}

/// Writes steps and spans.
fn parts(
    source: &mut Source<'_>,
    index: &Index,
    chain: &Chain,
    items: &[Item],
    out: &mut Out<'_>,
    warnings: &mut Vec<Issue>,
) -> Result<(), Fault> {
    steps::write(source, index, items, out, warnings)?;
    subagents::write(source, index, &chain.parents, out)?;
    let place = Place { offset: 0, line: 1 };
    warnings.extend(out.warnings.drain(..).map(|warning| issue(place, warning)));
    Ok(())
}

/// The head of the trace. Its id is that of the session of the line last in the file: a resumed session begins with lines of
/// the one before it.
fn head(source: &mut Source<'_>, index: &Index, items: &[Item]) -> Result<TraceHead, Fault> {
    let entries = items.iter().filter_map(|item| match item {
        Item::Entry(at) => index.entries.get(*at).map(|entry| (at, entry)),
        Item::Waiting(_) => None,
    });
    let named = entries.filter(|(_, entry)| entry.session.is_some() && !entry.dropped);
    let last = named.max_by_key(|(at, _)| **at).map(|(_, entry)| entry);
    let session = last.and_then(|entry| entry.session).and_then(|name| index.names.text(name));
    let mut more = Object::new();
    let mut external_id = session.map(str::to_owned);
    if index.is_side_file {
        let agent = last.and_then(|entry| entry.side.flatten().or(entry.uuid)).and_then(|name| index.names.text(name));
        if let Some(agent) = agent {
            external_id = session.map(|session| format!("{session}:{agent}"));
            more.insert("agentId", agent);
        }
    }
    let mut title = index.facts.title().cloned();
    if title.is_none() {
        let own = index.facts.summaries.iter().rev().find(|(leaf, _)| index.by_uuid.contains_key(leaf));
        if let Some((_, span)) = own {
            title = lines::read_at(source, *span)?.ok().and_then(|(line, _)| Facts::summary_title(&line));
        }
    }
    Ok(TraceHead { external_id, title, metadata: index.facts.metadata(session, more) })
}
