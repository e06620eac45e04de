//! A trace from what a tracing tool observed: its spans, its merged conversation, and what was judged of it.

pub(super) mod facts;
pub(super) mod spans;
pub(super) mod tools;

use super::common::record::{Bad, Out, Stop};
use super::merge::{SourceKind, SourceSpan, merge};
use crate::json::Json;
use crate::limits::{BYTES_PER_OBSERVATION, OBSERVATIONS_FREE};
use crate::trace::{Role, Span, Step};
use spans::without_rings;
use std::collections::BTreeMap;

/// One observation: a span of Langfuse, a run of LangSmith.
#[derive(Debug)]
pub(super) struct Observed {
    /// As it is stored; none if no time of it is known. Its step indices are empty yet.
    pub(super) span: Option<Span>,
    /// As it is merged.
    pub(super) source: SourceSpan,
}

/// The observations of a trace.
#[derive(Debug)]
pub(super) struct Gathered {
    spans: Vec<Span>,
    sources: Vec<SourceSpan>,
}

impl Gathered {
    /// For these observations.
    ///
    /// # Errors
    /// As [`check_size`].
    pub(super) fn of<'j>(observations: impl ExactSizeIterator<Item = &'j Json>) -> Result<Self, Bad> {
        let count = observations.len();
        check_size(count, observations.map(Json::text_bytes).sum())?;
        Ok(Self { spans: Vec::new(), sources: Vec::with_capacity(count) })
    }

    /// Adds the next one.
    pub(super) fn push(&mut self, observed: Observed) {
        self.spans.extend(observed.span);
        self.sources.push(observed.source);
    }
}

/// Checks that so many observations have so many bytes of text.
///
/// # Errors
/// If they are too many for their size: each takes up to two kilobytes of memory, however short its text is (ADR 9).
pub(super) fn check_size(count: usize, text_bytes: usize) -> Result<(), Bad> {
    if count.saturating_sub(OBSERVATIONS_FREE) <= text_bytes / BYTES_PER_OBSERVATION {
        return Ok(());
    }
    let message = format!(
        "{count} observations of {} bytes each are too many that are so small: beyond {OBSERVATIONS_FREE}, there may be one for each \
         {BYTES_PER_OBSERVATION} bytes; import them in parts, or leave out those that say nothing",
        text_bytes / count.max(1)
    );
    Err(Bad::new("", message))
}

/// Turns of the trace as a whole, for a trace in which no call has any.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// The observation that they are of, if any.
    pub(super) id: String,
    /// What the trace was given.
    pub(super) input: Vec<Step>,
    /// What it answered; it may begin with the input.
    pub(super) output: Vec<Step>,
    /// Start and end, nanoseconds since the epoch; 0 if unknown.
    pub(super) times: (u64, u64),
}

/// For each observation that added an answer, the last step of the agent that it added.
pub(super) type Answers = BTreeMap<String, u32>;

/// Where to look for what the calls of a trace do not say. Asked only if needed.
pub(super) trait Beside {
    /// What was said of the system somewhere else, for a trace whose calls say nothing of it.
    fn system(&self) -> Vec<Step>;
    /// The trace as a whole, for a trace in which no call has turns.
    fn whole(&self, out: &mut Out<'_>) -> Option<Whole>;
}

/// Writes the trace.
pub(super) fn write(gathered: Gathered, beside: &dyn Beside, out: &mut Out<'_>) -> Result<Answers, Stop> {
    let Gathered { mut spans, mut sources } = gathered;
    let speaks = |source: &SourceSpan| {
        matches!(source.kind, SourceKind::Llm | SourceKind::Agent)
            && !(source.input.is_empty() && source.output.is_empty())
    };
    let mut whole_id = String::new();
    if !sources.iter().any(speaks)
        && let Some(whole) = beside.whole(out)
    {
        whole_id = whole.id.clone();
        add_whole(whole, &mut sources);
    }
    let has_system = sources.iter().flat_map(|source| &source.input).any(|step| step.role == Role::System);
    let first = sources.iter_mut().filter(|source| source.kind == SourceKind::Llm && speaks(source));
    if !has_system && let Some(first) = first.min_by(|a, b| (a.start_ns, &a.id).cmp(&(b.start_ns, &b.id))) {
        first.input.splice(0..0, beside.system());
    }
    let mut merged = merge(sources);
    if let Some(mut indices) = merged.step_indices.remove(&first_id(&whole_id)) {
        indices.append(merged.step_indices.entry(whole_id.clone()).or_default());
        merged.step_indices.insert(whole_id, indices);
    }
    let mut answers = Answers::new();
    for (id, indices) in &merged.step_indices {
        let is_answer = |index: &&u32| {
            let step = usize::try_from(**index).ok().and_then(|index| merged.steps.get(index));
            step.is_some_and(|timed| timed.step.role == Role::Assistant)
        };
        if let Some(last) = indices.iter().rev().find(is_answer) {
            answers.insert(id.clone(), *last);
        }
    }
    merged.steps.into_iter().try_for_each(|step| out.timed_step(step))?;
    without_rings(&mut spans, out);
    for mut span in spans {
        span.step_indices = merged.step_indices.remove(&span.id).unwrap_or_default();
        out.span(span)?;
    }
    Ok(answers)
}

/// Makes a call of the trace as a whole. Where the answer repeats what was given, it is a second call, which knows it.
fn add_whole(whole: Whole, sources: &mut Vec<SourceSpan>) {
    let (start_ns, end_ns) = whole.times;
    let repeats = whole.output.iter().any(|step| step.role == Role::User);
    let at = sources.iter().position(|source| source.id == whole.id);
    let held = at.map(|at| sources.remove(at)).unwrap_or_default();
    let call = SourceSpan { id: whole.id, kind: SourceKind::Llm, start_ns, end_ns, tool: None, ..held };
    if repeats {
        let first =
            SourceSpan { id: first_id(&call.id), parent: call.parent.clone(), input: whole.input, ..call.clone() };
        sources.push(SourceSpan { order: "0".to_owned(), output: Vec::new(), ..first });
        sources.push(SourceSpan { order: "1".to_owned(), input: whole.output, output: Vec::new(), ..call });
    } else {
        sources.push(SourceSpan { input: whole.input, output: whole.output, ..call });
    }
}

/// An id that no observation has.
fn first_id(id: &str) -> String {
    format!("{id}\0first")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_beyond_a_thousand_have_some_text() {
        let small = Json::Object(vec![("id".to_owned(), Json::Text("a".to_owned()))]);
        let usual = Json::Object(vec![("input".to_owned(), Json::Text("a".repeat(100)))]);
        let gathered = |one: &Json, count: usize| Gathered::of(vec![one; count].into_iter());
        assert!(gathered(&small, OBSERVATIONS_FREE).is_ok());
        assert!(gathered(&usual, 100_000).is_ok());
        let refused = gathered(&small, 2_000).unwrap_err().message;
        assert!(refused.contains("2000 observations of 10 bytes each"), "{refused}");
    }
}
