//! What was sent, as the tables keep it: frames as they were sealed, and for each span and log record where in them it stands.
//!
//! A frame says a history once that its calls repeat, so that it is a small part of its spans. It is kept for as long as any of
//! them stands; what was sent again with other content stays in its frame, and nothing points at it.

use crate::error::ApplyError;
use stash_domain::ids::SubjectId;
use stash_domain::otel::frame::OtelFrame;
use stash_domain::otel::{OtelLog, OtelSpan, OtelSpanId};
use std::collections::HashMap;

/// Number of a span's row; those of log records have their digest.
pub(super) const SPAN: i64 = 0;

/// A frame: the subject that it was sealed for, its number in its bundle, and its plain bytes.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) subject: SubjectId,
    pub(super) number: i32,
    pub(super) content: Vec<u8>,
}

impl Frame {
    pub(super) fn key(&self) -> FrameKey {
        (self.subject, self.number)
    }
}

/// What names a frame within its trace.
pub(super) type FrameKey = (SubjectId, i32);

/// A row of `rm_otel_spans`: what it is of, and where that stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) span_id: OtelSpanId,
    /// [`SPAN`], or the digest of a log record.
    pub(super) record: i64,
    pub(super) frame: FrameKey,
    /// Among the frame's spans, or among its log records.
    pub(super) place: i32,
}

/// A span or a log record.
#[derive(Clone)]
pub(super) enum Item {
    Span(Box<OtelSpan>),
    Log(Box<OtelLog>),
}

/// What the tables have of a trace.
#[derive(Default)]
pub(super) struct Stored {
    pub(super) rows: Vec<Row>,
    pub(super) frames: Vec<Frame>,
}

/// What rows stand for. `frames` has all of theirs, and may have others.
pub(super) fn items(rows: &[Row], frames: &[Frame]) -> Result<Vec<Item>, ApplyError> {
    let mut of: HashMap<FrameKey, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        of.entry(row.frame).or_default().push(at);
    }
    let damaged = || ApplyError::damaged("rm_otel_frames");
    let mut items: Vec<Option<Item>> = vec![None; rows.len()];
    for frame in frames {
        let Some(rows_of) = of.remove(&frame.key()) else { continue };
        let OtelFrame { spans, logs, .. } = OtelFrame::decode(&frame.content).map_err(|_| damaged())?;
        for at in rows_of {
            let (Some(row), Some(item)) = (rows.get(at), items.get_mut(at)) else { continue };
            let place = usize::try_from(row.place).map_err(|_| damaged())?;
            *item = match row.record {
                SPAN => spans.get(place).map(|span| Item::Span(Box::new(span.clone()))),
                _ => logs.get(place).map(|log| Item::Log(Box::new(log.clone()))),
            };
        }
    }
    items.into_iter().map(|item| item.ok_or_else(damaged)).collect()
}
