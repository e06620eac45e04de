//! A trace that grows: what is remembered of it, and how spans and log records are added.

use super::facts::Facts;
use super::source::{self, Texts};
use super::strays::{ANSWER, Records, Strays};
use crate::formats::merge::{MergeState, SourceSpan, TimedStep};
use crate::limits::{SPANS_PER_TRACE_MAX, STEPS_PER_TRACE_MAX};
use crate::otel::{OtelLog, OtelSpan, OtelSpanId, OtelTraceId};
use crate::trace::{Span, Step, TraceHead};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Spans passed on the way up when a new one may close a ring of parents.
const ANCESTORS_MAX: usize = 10_000;

/// Everything that adding to a trace needs to know of it: digests, places and facts, no texts but for facts and for some tool
/// results (see [`MergeState`]). For storage as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceState {
    merge: MergeState,
    facts: Facts,
    /// Spans taken in.
    spans: BTreeMap<OtelSpanId, Seen>,
    /// Digests of the log records taken in.
    logs: BTreeSet<u64>,
    #[serde(default, skip_serializing_if = "Strays::is_empty")]
    strays: Strays,
    /// Whether any call was there: only then the trace has steps to show.
    #[serde(default)]
    has_calls: bool,
}

/// A span taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    /// Digest of what it was; 0 if only its log records are known.
    #[serde(rename = "d")]
    digest: u64,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    parent: Option<OtelSpanId>,
}

/// What is known of a span that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing, or only log records of it.
    No,
    /// It was taken in as it is.
    Same,
    /// It was taken in with other content.
    Other,
}

/// A span that is new to the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct GrownSpan {
    /// The span, its steps set.
    pub span: Span,
    /// About how many bytes its input and output have, where they are not made here because [`said`](super::said) makes them of
    /// what was sent, which is kept anyway. Histories repeat each other: made for each span they would be most of the trace.
    pub said_bytes: Option<u32>,
}

/// What an addition does to the trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grown {
    /// The trace's head from now on.
    pub head: TraceHead,
    /// Steps that stay; those behind are dropped.
    pub keep: u32,
    /// Steps that follow them.
    pub steps: Vec<Step>,
    /// New spans, by start.
    pub spans: Vec<GrownSpan>,
    /// Spans that were there before and whose steps are others now: all of their steps.
    pub step_indices: BTreeMap<String, Vec<u32>>,
    /// What was changed or left out, each with the span that it concerns.
    pub warnings: Vec<(OtelSpanId, String)>,
}

/// Why an addition does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// What came changes what stands: [`rebuild`](super::rebuild) the trace from all of its spans and log records. The state is
    /// spent.
    #[error("what came changes earlier steps: the trace is to be built again from all its spans")]
    Rebuild,
    /// The trace has as many spans as a trace may have.
    #[error("the trace has more than {SPANS_PER_TRACE_MAX} spans")]
    TooManySpans,
    /// The trace would have more steps than a trace may have.
    #[error("the trace has more than {STEPS_PER_TRACE_MAX} steps")]
    TooManySteps,
}

impl TraceState {
    /// Spans taken in.
    pub fn spans(&self) -> usize {
        self.spans.values().filter(|seen| seen.digest != 0).count()
    }

    /// Whether the trace has steps to show. Until a call of a model is there, tool and other spans wait.
    pub fn is_shown(&self) -> bool {
        self.has_calls
    }

    /// Steps at the trace's begin that an addition keeps: [`Grown::keep`] of the next one.
    pub fn settled_steps(&self) -> u32 {
        if self.has_calls { self.merge.steps() } else { 0 }
    }

    /// Whether a span was taken in before, and as what.
    pub fn knows(&self, span: &OtelSpan) -> Known {
        match self.spans.get(&span.span_id) {
            None | Some(Seen { digest: 0, .. }) => Known::No,
            Some(seen) if seen.digest == span.digest() => Known::Same,
            Some(_) => Known::Other,
        }
    }

    /// Whether the log record with this [`OtelLog::digest`] was taken in before.
    pub fn knows_log(&self, digest: u64) -> bool {
        self.logs.contains(&digest)
    }

    /// Adds to the trace. See [`grow`](super::grow). What a span was is remembered only if more may come, as it may live: it costs
    /// as much as reading it. Live, inputs and outputs are left where they are: see [`GrownSpan::said_bytes`].
    pub(super) fn add(
        &mut self,
        trace_id: OtelTraceId,
        spans: Vec<OtelSpan>,
        logs: Vec<OtelLog>,
        live: bool,
    ) -> Result<Grown, AssembleError> {
        let mut batch = self.unseen(spans)?;
        if self.spans.len().saturating_add(batch.len()) > usize::try_from(SPANS_PER_TRACE_MAX).unwrap_or(usize::MAX) {
            return Err(AssembleError::TooManySpans);
        }
        let digest_of = |span: &OtelSpan| if live { span.digest() } else { 1 };
        let digests: Vec<u64> = batch.iter().map(digest_of).collect();
        self.cut_rings(&mut batch)?;
        let mut records = self.unseen_records(logs, &batch)?;
        let mut grown = Grown::default();
        let mut sources = Vec::with_capacity(batch.len());
        let mut shown = Vec::with_capacity(batch.len());
        let texts = if live { Texts::Left } else { Texts::Made };
        for (span, digest) in batch.into_iter().zip(digests) {
            let records = records.remove(&span.span_id).unwrap_or_default();
            self.spans.insert(span.span_id, Seen { digest, parent: span.parent });
            let read = source::read(&span, &records, true, texts);
            self.take(&span, read, &mut sources, &mut shown, &mut grown);
        }
        // Spans that were not sampled, or come later.
        for (id, records) in records {
            let mut span = OtelSpan::new(trace_id, id);
            let times = || records.iter().map(|record| record.time_ns).filter(|time_ns| *time_ns != 0);
            (span.start_ns, span.end_ns) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
            span.context = records.first().map(|record| record.context.clone()).unwrap_or_default();
            self.spans.insert(id, Seen { digest: 0, parent: None });
            let read = source::read(&span, &records, false, texts);
            self.take(&span, read, &mut sources, &mut shown, &mut grown);
        }
        let added = self.merge.add(sources).map_err(|_| AssembleError::Rebuild)?;
        grown.head = self.facts.head(trace_id);
        grown.keep = added.keep;
        grown.steps = added.steps.into_iter().map(TimedStep::stamped).collect();
        let steps = usize::try_from(grown.keep).unwrap_or(usize::MAX).saturating_add(grown.steps.len());
        if steps > usize::try_from(STEPS_PER_TRACE_MAX).unwrap_or(usize::MAX) {
            return Err(AssembleError::TooManySteps);
        }
        grown.step_indices = added.step_indices;
        if !self.has_calls {
            // Results of tools that no call is known of yet. They come again with each addition until one takes them.
            (grown.keep, grown.steps, grown.step_indices) = (0, Vec::new(), BTreeMap::new());
        }
        let place = |grown: &GrownSpan| (grown.span.start_ns, grown.span.end_ns);
        shown.sort_by(|a: &GrownSpan, b| place(a).cmp(&place(b)).then_with(|| a.span.id.cmp(&b.span.id)));
        for GrownSpan { span, .. } in &mut shown {
            span.step_indices = grown.step_indices.remove(&span.id).unwrap_or_default();
        }
        grown.spans = shown;
        Ok(grown)
    }

    fn take(
        &mut self,
        span: &OtelSpan,
        read: source::Read,
        sources: &mut Vec<SourceSpan>,
        shown: &mut Vec<GrownSpan>,
        grown: &mut Grown,
    ) {
        self.facts.see(span, read.is_call, &read.warnings);
        self.has_calls |= !(read.source.input.is_empty() && read.source.output.is_empty());
        grown.warnings.extend(read.warnings.into_iter().map(|warning| (span.span_id, warning)));
        let bytes = || u32::try_from(span.attributes.bytes_held()).unwrap_or(u32::MAX);
        let said_bytes = read.texts_left.then(bytes);
        shown.extend(read.span.map(|span| GrownSpan { span, said_bytes }));
        sources.push(read.source);
    }

    /// The spans that are new, each once.
    fn unseen(&self, spans: Vec<OtelSpan>) -> Result<Vec<OtelSpan>, AssembleError> {
        let mut fresh: BTreeMap<OtelSpanId, OtelSpan> = BTreeMap::new();
        for span in spans {
            match self.spans.get(&span.span_id) {
                Some(seen) if seen.digest == span.digest() => continue,
                // It was sent again with something else in it, or its log records came first.
                Some(_) => return Err(AssembleError::Rebuild),
                None => {}
            }
            match fresh.get_mut(&span.span_id) {
                Some(held) if span.stands_over(held) => *held = span,
                Some(_) => {}
                None => {
                    fresh.insert(span.span_id, span);
                }
            }
        }
        Ok(fresh.into_values().collect())
    }

    /// The log records that are new, by span and in their order.
    fn unseen_records(
        &mut self,
        logs: Vec<OtelLog>,
        batch: &[OtelSpan],
    ) -> Result<BTreeMap<OtelSpanId, Vec<OtelLog>>, AssembleError> {
        if batch.iter().any(|span| self.strays.concern(span)) {
            return Err(AssembleError::Rebuild);
        }
        let mut fresh = Records::new();
        for log in logs.into_iter().filter(OtelLog::is_generative) {
            let digest = log.digest();
            if self.logs.insert(digest) {
                if self.spans.contains_key(&log.span_id) {
                    return Err(AssembleError::Rebuild);
                }
                fresh.entry(log.span_id).or_default().push((digest, log));
            }
        }
        let is_parent = |id| self.spans.values().any(|seen| seen.parent == Some(id));
        if !self.strays.settle(batch, &mut fresh, is_parent) {
            return Err(AssembleError::Rebuild);
        }
        let in_order = |mut records: Vec<(u64, OtelLog)>| {
            records.sort_by_key(|(digest, log)| (log.time_ns, log.event_name == ANSWER, log.sequence, *digest));
            records.into_iter().map(|(_, log)| log).collect()
        };
        Ok(fresh.into_iter().map(|(span, records)| (span, in_order(records))).collect())
    }

    /// Makes roots of spans that are their own ancestors: of each ring the span with the smallest id.
    fn cut_rings(&self, batch: &mut [OtelSpan]) -> Result<(), AssembleError> {
        let mut parents: BTreeMap<OtelSpanId, OtelSpanId> =
            batch.iter().filter_map(|span| Some((span.span_id, span.parent?))).collect();
        let above = |parents: &BTreeMap<OtelSpanId, OtelSpanId>, id: OtelSpanId| {
            parents.get(&id).copied().or_else(|| self.spans.get(&id).and_then(|seen| seen.parent))
        };
        let mut good: BTreeSet<OtelSpanId> = BTreeSet::new();
        for id in batch.iter().map(|span| span.span_id).collect::<Vec<_>>() {
            let mut line = vec![id];
            let mut on_line = BTreeSet::from([id]);
            let mut at = id;
            while let Some(parent) = above(&parents, at) {
                if good.contains(&parent) || line.len() >= ANCESTORS_MAX {
                    break;
                }
                if !on_line.insert(parent) {
                    let ring = line.iter().skip_while(|id| **id != parent);
                    // A ring through an earlier span was no ring when that one came.
                    if ring.clone().any(|id| self.spans.contains_key(id)) {
                        return Err(AssembleError::Rebuild);
                    }
                    if let Some(first) = ring.min() {
                        parents.remove(first);
                    }
                    break;
                }
                line.push(parent);
                at = parent;
            }
            good.extend(line);
        }
        for span in batch {
            span.parent = span.parent.filter(|parent| parents.get(&span.span_id) == Some(parent));
        }
        Ok(())
    }
}
