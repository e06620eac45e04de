//! Spans and log records of a trace: those that are new, and all of them.

use super::memo::Extent;
use super::parts::Part;
use super::stored::{Frame, FrameKey, Item, Row, SPAN};
use stash_domain::otel::{AssembleError, Grown, Known, TraceState, rebuild};
use stash_domain::otel::{OtelLog, OtelSpan, OtelSpanId, OtelTraceId};
use std::collections::BTreeMap;

/// Where something stands: the number of its part, and its place among the spans or log records of the part's frame.
type Place = (usize, usize);

/// What was not taken in before.
#[derive(Default)]
pub(super) struct Fresh {
    spans: BTreeMap<OtelSpanId, (Place, OtelSpan)>,
    logs: BTreeMap<u64, (Place, OtelLog)>,
    /// Whether a span was taken in before with other content.
    contested: bool,
    /// The last part that brought anything.
    last: Option<usize>,
}

impl Fresh {
    /// `state`: what was taken in; none if that is not known. Gives the frames of the parts, too.
    pub(super) fn of(parts: Vec<Part>, state: Option<&TraceState>) -> (Self, Vec<Frame>) {
        let mut fresh = Self::default();
        let mut frames = Vec::with_capacity(parts.len());
        for (number, part) in parts.into_iter().enumerate() {
            for (at, span) in part.spans.into_iter().enumerate() {
                fresh.span((number, at), span, state);
            }
            for (at, log) in part.logs.into_iter().enumerate() {
                let digest = log.digest();
                if !state.is_some_and(|state| state.knows_log(digest)) && !fresh.logs.contains_key(&digest) {
                    fresh.last = Some(number);
                    fresh.logs.insert(digest, ((number, at), log));
                }
            }
            frames.push(part.frame);
        }
        (fresh, frames)
    }

    fn span(&mut self, place: Place, span: OtelSpan, state: Option<&TraceState>) {
        if let Some((held_place, held)) = self.spans.get_mut(&span.span_id) {
            if span.stands_over(held) {
                (*held_place, *held) = (place, span);
                self.last = Some(place.0);
            }
            return;
        }
        match state.map_or(Known::No, |state| state.knows(&span)) {
            Known::Same => return,
            Known::Other => self.contested = true,
            Known::No => {}
        }
        self.last = Some(place.0);
        self.spans.insert(span.span_id, (place, span));
    }

    pub(super) fn last_part(&self) -> Option<usize> {
        self.last
    }

    pub(super) fn is_contested(&self) -> bool {
        self.contested
    }

    /// Rows of all of it, each with the number of its part, in the order of the parts.
    pub(super) fn rows(&self, frames: &[Frame]) -> Vec<(usize, Row)> {
        let key = |part: usize| frames.get(part).map(Frame::key);
        let row = |(part, place): Place, span_id, record| {
            let (frame, place): (FrameKey, i32) = (key(part)?, i32::try_from(place).ok()?);
            Some((part, Row { span_id, record, frame, place }))
        };
        let spans = self.spans.values().filter_map(|(place, span)| row(*place, span.span_id, SPAN));
        let logs = self.logs.iter();
        let logs = logs.filter_map(|(digest, (place, log))| row(*place, log.span_id, digest.cast_signed()));
        let mut rows: Vec<(usize, Row)> = spans.chain(logs).collect();
        rows.sort_by_key(|(part, _)| *part);
        rows
    }

    /// Counts it.
    pub(super) fn extend(&self, extent: &mut Extent) {
        self.spans.values().for_each(|(_, span)| extent.span(span));
        self.logs.values().for_each(|(_, log)| extent.log(log));
    }

    pub(super) fn into_lists(self) -> (Vec<OtelSpan>, Vec<OtelLog>) {
        let spans = self.spans.into_values().map(|(_, span)| span).collect();
        (spans, self.logs.into_values().map(|(_, log)| log).collect())
    }
}

/// Everything that was sent of a trace; of two recordings of a span the one that stands.
#[derive(Default)]
pub(super) struct All {
    spans: BTreeMap<OtelSpanId, OtelSpan>,
    logs: BTreeMap<u64, OtelLog>,
}

impl All {
    pub(super) fn of(stored: &[Item]) -> Self {
        let mut all = Self::default();
        for item in stored {
            all.item(item.clone());
        }
        all
    }

    /// Takes what came. Gives the rows that are to be written, and the last part that brought one.
    pub(super) fn take(&mut self, came: &[(usize, Row, Item)]) -> (Vec<Row>, Option<usize>) {
        let mut sent: BTreeMap<(OtelSpanId, i64), Row> = BTreeMap::new();
        let mut last = None;
        for (part, row, item) in came {
            if self.item(item.clone()) {
                sent.insert((row.span_id, row.record), *row);
                last = last.max(Some(*part));
            }
        }
        (sent.into_values().collect(), last)
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
