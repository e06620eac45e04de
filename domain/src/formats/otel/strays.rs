//! Answers that are recorded on the span above their call.
//!
//! A log record belongs to the span that is current when it is made. Of an answer that is streamed, the call's span is no longer
//! that: the program reads the stream in its own span, and there OpenLLMetry records the answer. So answers of a span of which
//! nothing else is recorded, and which is no call itself, go to that call below it in whose time they were made; of several the
//! one that ended first, because it ends with its answer.

use super::kind;
use crate::otel::{OtelLog, OtelSpan, OtelSpanId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Log records, each with its digest, by span.
pub(super) type Records = BTreeMap<OtelSpanId, Vec<(u64, OtelLog)>>;

/// The event of an answer.
pub(super) const ANSWER: &str = "gen_ai.choice";

/// Spans that are no calls and of which only answers are recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Strays(BTreeSet<OtelSpanId>);

impl Strays {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a span that comes may change whose answers these are.
    pub(super) fn concern(&self, span: &OtelSpan) -> bool {
        self.0.contains(&span.span_id) || span.parent.is_some_and(|parent| self.0.contains(&parent))
    }

    /// Gives answers to the calls of this batch that they are of. False if spans that came earlier, of which `is_parent` tells
    /// whether one has this parent, may have a part in it.
    pub(super) fn settle(
        &mut self,
        batch: &[OtelSpan],
        records: &mut Records,
        is_parent: impl Fn(OtelSpanId) -> bool,
    ) -> bool {
        let only_answers = |of: &[(u64, OtelLog)]| of.iter().all(|(_, record)| record.event_name == ANSWER);
        let is_call = |span: &OtelSpan| kind::kind_of(span).as_deref() == Some("llm");
        let mut above: BTreeSet<OtelSpanId> =
            records.iter().filter(|(_, of)| only_answers(of)).map(|(id, _)| *id).collect();
        if above.is_empty() {
            return true;
        }
        for span in batch {
            if above.contains(&span.span_id) && is_call(span) {
                above.remove(&span.span_id);
            }
        }
        if above.iter().any(|id| self.0.contains(id) || is_parent(*id)) {
            return false;
        }
        let mut below: BTreeMap<OtelSpanId, Vec<&OtelSpan>> = BTreeMap::new();
        for span in batch {
            if let Some(parent) = span.parent.filter(|parent| above.contains(parent))
                && is_call(span)
            {
                below.entry(parent).or_default().push(span);
            }
        }
        for (id, calls) in below {
            let whose = |record: &OtelLog| {
                let during = |call: &&&OtelSpan| (call.start_ns..=call.end_ns).contains(&record.time_ns);
                calls.iter().filter(during).min_by_key(|call| (call.end_ns, call.span_id)).map(|call| call.span_id)
            };
            let mut left = Vec::new();
            for (digest, record) in records.remove(&id).unwrap_or_default() {
                match whose(&record) {
                    Some(call) => records.entry(call).or_default().push((digest, record)),
                    None => left.push((digest, record)),
                }
            }
            if !left.is_empty() {
                records.insert(id, left);
            }
        }
        self.0.append(&mut above);
        true
    }
}
