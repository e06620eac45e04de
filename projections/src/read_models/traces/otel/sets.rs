//! Spans and log records of a trace: those that are new, and all of them.

use super::memo::Extent;
use super::packed::{Item, Packed};
use super::parts::Part;
use crate::error::ApplyError;
use stash_domain::otel::frame::Recorded;
use stash_domain::otel::{AssembleError, Grown, Known, TraceState, rebuild};
use stash_domain::otel::{OtelLog, OtelSpan, OtelSpanId, OtelTraceId};
use std::collections::BTreeMap;

/// What was not taken in before, each with the number of the part that brought it.
#[derive(Default)]
pub(super) struct Fresh {
    spans: BTreeMap<OtelSpanId, (usize, Recorded<OtelSpan>)>,
    logs: BTreeMap<u64, (usize, Recorded<OtelLog>)>,
    /// Whether a span was taken in before with other content.
    contested: bool,
    /// The last part that brought anything.
    last: Option<usize>,
}

impl Fresh {
    /// `state`: what was taken in; none if that is not known.
    pub(super) fn of(parts: Vec<Part>, state: Option<&TraceState>) -> Self {
        let mut fresh = Self::default();
        for (number, part) in parts.into_iter().enumerate() {
            for span in part.spans {
                fresh.span(number, span, state);
            }
            for log in part.logs {
                let digest = log.item.digest();
                if !state.is_some_and(|state| state.knows_log(digest)) && !fresh.logs.contains_key(&digest) {
                    fresh.last = Some(number);
                    fresh.logs.insert(digest, (number, log));
                }
            }
        }
        fresh
    }

    fn span(&mut self, number: usize, span: Recorded<OtelSpan>, state: Option<&TraceState>) {
        if let Some((held_number, held)) = self.spans.get_mut(&span.item.span_id) {
            if span.item.stands_over(&held.item) {
                (*held_number, *held) = (number, span);
                self.last = Some(number);
            }
            return;
        }
        match state.map_or(Known::No, |state| state.knows(&span.item)) {
            Known::Same => return,
            Known::Other => self.contested = true,
            Known::No => {}
        }
        self.last = Some(number);
        self.spans.insert(span.item.span_id, (number, span));
    }

    pub(super) fn last_part(&self) -> Option<usize> {
        self.last
    }

    pub(super) fn is_contested(&self) -> bool {
        self.contested
    }

    /// Rows of all of it, in the order of the parts, which may be had once.
    pub(super) fn rows(&mut self) -> Vec<(usize, Packed)> {
        let mut rows = Vec::with_capacity(self.spans.len() + self.logs.len());
        for (part, span) in self.spans.values_mut() {
            rows.push((*part, Packed::span(&span.item, std::mem::take(&mut span.json))));
        }
        for (digest, (part, log)) in &mut self.logs {
            rows.push((*part, Packed::log(*digest, &log.item, std::mem::take(&mut log.json))));
        }
        rows.sort_by_key(|(part, _)| *part);
        rows
    }

    /// Counts it.
    pub(super) fn extend(&self, extent: &mut Extent) {
        self.spans.values().for_each(|(_, span)| extent.span(&span.item));
        self.logs.values().for_each(|(_, log)| extent.log(&log.item));
    }

    pub(super) fn into_lists(self) -> (Vec<OtelSpan>, Vec<OtelLog>) {
        let spans = self.spans.into_values().map(|(_, span)| span.item).collect();
        (spans, self.logs.into_values().map(|(_, log)| log.item).collect())
    }
}

/// Everything that was sent of a trace; of two recordings of a span the one that stands.
#[derive(Default)]
pub(super) struct All {
    spans: BTreeMap<OtelSpanId, OtelSpan>,
    logs: BTreeMap<u64, OtelLog>,
}

impl All {
    pub(super) fn of(stored: &[Packed]) -> Result<Self, ApplyError> {
        let mut all = Self::default();
        for row in stored {
            all.item(row.open()?);
        }
        Ok(all)
    }

    /// Takes what came. Gives the rows that are to be written, and the last part that brought one.
    pub(super) fn take(&mut self, rows: &[(usize, Packed)]) -> Result<(Vec<Packed>, Option<usize>), ApplyError> {
        let mut sent: BTreeMap<(OtelSpanId, i64), &Packed> = BTreeMap::new();
        let mut last = None;
        for (part, row) in rows {
            if self.item(row.open()?) {
                sent.insert((row.span_id, row.record), row);
                last = last.max(Some(*part));
            }
        }
        Ok((sent.into_values().cloned().collect(), last))
    }

    /// Whether that changes anything.
    fn item(&mut self, item: Item) -> bool {
        match item {
            Item::Span(span) => match self.spans.get(&span.span_id) {
                Some(held) if !span.stands_over(held) => false,
                _ => {
                    self.spans.insert(span.span_id, *span);
                    true
                }
            },
            Item::Log(log) => self.logs.insert(log.digest(), *log).is_none(),
        }
    }

    pub(super) fn extent(&self) -> Extent {
        let mut extent = Extent::default();
        self.spans.values().for_each(|span| extent.span(span));
        self.logs.values().for_each(|log| extent.log(log));
        extent
    }

    pub(super) fn rebuild(self, otel_id: OtelTraceId) -> Result<(TraceState, Grown), AssembleError> {
        rebuild(otel_id, self.spans.into_values().collect(), self.logs.into_values().collect())
    }
}
