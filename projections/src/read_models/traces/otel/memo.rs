//! What is remembered of a trace between two additions.

use super::packed::Packer;
use crate::error::ApplyError;
use serde::{Deserialize, Serialize};
use sqlx::FromRow;
use stash_domain::ids::{Digest, TraceId};
use stash_domain::otel::TraceState;
use stash_domain::otel::{OtelLog, OtelSpan};
use stash_domain::trace::tally::Tally;
use uuid::Uuid;

/// See above. About 110 bytes for each step and 60 for each span, before compression.
#[derive(Serialize, Deserialize)]
pub(super) struct Memo {
    /// The merging.
    pub(super) state: TraceState,
    /// Ids and digests of the steps that stay, whatever comes.
    pub(super) tally: Tally,
    /// The key of the step ids: that of the first request.
    pub(super) step_id_key: Digest,
    /// Steps in the table, those included that may be put elsewhere.
    pub(super) steps: u32,
    /// Spans in the table.
    pub(super) spans: u32,
    /// Whether the trace has as much as a trace may have, so that nothing more is taken.
    pub(super) full: bool,
}

/// A trace as the tables have it.
#[derive(FromRow)]
pub(super) struct Held {
    pub(super) trace_id: Uuid,
    pub(super) span_count: i32,
    pub(super) log_count: i32,
    pub(super) first_ns: Option<String>,
    pub(super) last_ns: Option<String>,
    pub(super) stands: bool,
    pub(super) created_at: i64,
    memo: Option<Vec<u8>>,
}

impl Held {
    /// What is remembered; none if another version wrote it.
    pub(super) fn memo(&self, packer: &mut Packer) -> Option<Memo> {
        packer.open(self.memo.as_ref()?)
    }
}

impl Memo {
    /// Of a trace of which nothing is there.
    pub(super) fn new(trace: TraceId, step_id_key: Digest) -> Self {
        let tally = Tally::new(trace, step_id_key.0, None);
        Self { state: TraceState::default(), tally, step_id_key, steps: 0, spans: 0, full: false }
    }

    pub(super) fn pack(&self, packer: &mut Packer) -> Result<Vec<u8>, ApplyError> {
        packer.pack(self)
    }
}

/// Counts and times of what was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) spans: i32,
    pub(super) logs: i32,
    pub(super) first_ns: Option<u64>,
    pub(super) last_ns: Option<u64>,
}

impl Extent {
    pub(super) fn of(held: &Held) -> Self {
        let ns = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
        Self { spans: held.span_count, logs: held.log_count, first_ns: ns(&held.first_ns), last_ns: ns(&held.last_ns) }
    }

    pub(super) fn span(&mut self, span: &OtelSpan) {
        self.spans = self.spans.saturating_add(1);
        self.times([span.start_ns, span.end_ns]);
    }

    pub(super) fn log(&mut self, log: &OtelLog) {
        self.logs = self.logs.saturating_add(1);
        self.times([log.time_ns, log.time_ns]);
    }

    /// 0 and the largest number stand for "unknown".
    fn times(&mut self, times: [u64; 2]) {
        for ns in times.into_iter().filter(|ns| *ns != 0 && *ns != u64::MAX) {
            self.first_ns = Some(self.first_ns.map_or(ns, |first| first.min(ns)));
            self.last_ns = Some(self.last_ns.map_or(ns, |last| last.max(ns)));
        }
    }
}
