//! Adds to one trace: from what the tables have and what came, what to write. Pure.
//!
//! 1. What came is compared with what was taken in before: what is known already changes nothing.
//! 2. The rest is added to what is remembered of the trace. That costs what came.
//! 3. Where it changes what stands already, all of the trace's spans are asked for ([`Outcome::NeedsAll`]), and the trace is
//!    built again from them ([`again`]). The rows are the same either way.
//!
//! A part that would make the trace larger than a trace may be is left out whole, and so is what comes after it.

use super::memo::{Extent, Held, Memo};
use super::packed::Packer;
use super::parts::Addition;
use super::sets::{All, Fresh};
use super::stored::{Frame, FrameKey, Item, Row, Stored, items};
use crate::error::ApplyError;
use stash_domain::ids::{Digest, SubjectId, TraceId};
use stash_domain::otel::OtelTraceId;
use stash_domain::otel::{Grown, GrownSpan, TraceState, grow};
use stash_domain::time::Timestamp;
use stash_domain::trace::frame::{StepsFrame, SummaryFrame};
use stash_domain::trace::tally::Tally;
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of an addition.
pub(super) enum Outcome {
    /// Nothing is new.
    Nothing,
    /// Rows are to be written.
    Write(Box<Change>),
    /// All spans of the trace are needed.
    NeedsAll(Box<Pending>),
}

/// An addition that waits for all spans of its trace.
pub(super) struct Pending {
    pub(super) of: Of,
    /// Spans and log records that the tables have.
    pub(super) stored: i64,
    /// What came, each with the number of its part, in the order of the parts.
    rows: Vec<(usize, Row)>,
    frames: Vec<Frame>,
}

/// What stays the same of an addition.
pub(super) struct Of {
    pub(super) trace: TraceId,
    otel_id: OtelTraceId,
    step_id_key: Digest,
    created_at: Timestamp,
    marks: Vec<Mark>,
}

/// Of a part what is remembered of it: its subject, and when it came.
#[derive(Clone, Copy)]
struct Mark {
    subject: SubjectId,
    at: Timestamp,
}

/// What to write of a trace.
pub(super) struct Change {
    pub(super) trace: TraceId,
    pub(super) external_id: String,
    pub(super) sent: Vec<Row>,
    /// Those that what was sent stands in.
    pub(super) frames: Vec<Frame>,
    /// Whether the table has none of what was sent.
    pub(super) sent_is_new: bool,
    pub(super) extent: Extent,
    pub(super) has_messages: bool,
    pub(super) stands: bool,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) subject: SubjectId,
    pub(super) memo: Vec<u8>,
    /// None while there is nothing to show.
    pub(super) shown: Option<Shown>,
}

/// The canonical rows.
pub(super) struct Shown {
    /// Whether they replace all that there are.
    pub(super) whole: bool,
    /// Where steps are to be cut, if there are any behind.
    pub(super) cut: Option<u32>,
    pub(super) steps: StepsFrame,
    pub(super) spans: Vec<GrownSpan>,
    pub(super) moved: BTreeMap<String, Vec<u32>>,
    pub(super) summary: SummaryFrame,
}

/// Adds to a trace.
pub(super) fn add(held: Option<Held>, addition: Addition, packer: &mut Packer) -> Result<Outcome, ApplyError> {
    let Addition { trace, otel_id, parts } = addition;
    let Some(first) = parts.first() else { return Ok(Outcome::Nothing) };
    let (is_new, stood) = (held.is_none(), held.as_ref().is_some_and(|held| held.stands));
    let mut extent = held.as_ref().map(Extent::of).unwrap_or_default();
    let created_at = held.as_ref().map_or(first.at, |held| Timestamp(held.created_at));
    let memo = match held {
        Some(held) => held.memo(packer),
        None => Some(Memo::new(trace, first.step_id_key)),
    };
    let step_id_key = memo.as_ref().map_or(first.step_id_key, |memo| memo.step_id_key);
    if memo.as_ref().is_some_and(|memo| memo.full) {
        return Ok(Outcome::Nothing);
    }
    let marks = parts.iter().map(|part| Mark { subject: part.frame.subject, at: part.at }).collect();
    let of = Of { trace, otel_id, step_id_key, created_at, marks };
    let (fresh, frames) = Fresh::of(parts, memo.as_ref().map(|memo| &memo.state));
    let Some(last) = fresh.last_part() else { return Ok(Outcome::Nothing) };
    let rows = fresh.rows(&frames);
    let stored = i64::from(extent.spans) + i64::from(extent.logs);
    let (Some(memo), false) = (memo, fresh.is_contested()) else {
        return Ok(Outcome::NeedsAll(Box::new(Pending { of, stored, rows, frames })));
    };
    fresh.extend(&mut extent);
    let Memo { mut state, tally, steps, spans, .. } = memo;
    let grown = {
        let (spans, logs) = fresh.into_lists();
        grow(&mut state, otel_id, spans, logs)
    };
    // A trace that begins to be shown, or is shown again after an import, is written whole.
    let goes_on = is_new || stood || !state.is_shown();
    match grown {
        Ok(grown) if goes_on && grown.keep == tally.steps() => {
            let sent = Sent::of(rows.into_iter().map(|(_, row)| row).collect(), frames);
            let built = Built { state, grown, tally, whole: is_new, sent_is_new: true, steps, spans, full: false };
            built.write(&of, sent, extent, last, packer)
        }
        _ => Ok(Outcome::NeedsAll(Box::new(Pending { of, stored, rows, frames }))),
    }
}

/// Builds a trace again, from all that the tables have of it and what came.
pub(super) fn again(pending: Pending, stored: &Stored, packer: &mut Packer) -> Result<Outcome, ApplyError> {
    let Pending { of, rows, frames, .. } = pending;
    let stored = items(&stored.rows, &stored.frames)?;
    let found = items(&rows.iter().map(|(_, row)| *row).collect::<Vec<_>>(), &frames)?;
    let came: Vec<(usize, Row, Item)> =
        rows.into_iter().zip(found).map(|((part, row), item)| (part, row, item)).collect();
    let mut all = All::of(&stored);
    let (sent, last) = all.take(&came);
    let Some(last) = last else { return Ok(Outcome::Nothing) };
    let extent = all.extent();
    match all.rebuild(of.otel_id) {
        Ok((state, grown)) => Built::anew(&of, state, grown).write(&of, Sent::of(sent, frames), extent, last, packer),
        Err(_) => fill(&of, &stored, came, frames, packer),
    }
}

/// Takes as many parts as the trace may have, and none from then on.
fn fill(
    of: &Of,
    stored: &[Item],
    mut came: Vec<(usize, Row, Item)>,
    frames: Vec<Frame>,
    packer: &mut Packer,
) -> Result<Outcome, ApplyError> {
    let mut fits = 0;
    loop {
        let next = came.iter().map(|(part, ..)| *part).filter(|part| *part >= fits).min();
        let Some(next) = next else { break };
        let mut all = All::of(stored);
        let tried: Vec<_> = came.iter().filter(|(part, ..)| *part <= next).cloned().collect();
        all.take(&tried);
        if all.rebuild(of.otel_id).is_err() {
            break;
        }
        fits = next + 1;
    }
    came.retain(|(part, ..)| *part < fits);
    let mut all = All::of(stored);
    let (sent, last) = all.take(&came);
    let extent = all.extent();
    let Ok((state, grown)) = all.rebuild(of.otel_id) else { return Ok(Outcome::Nothing) };
    let built = Built { full: true, ..Built::anew(of, state, grown) };
    tracing::warn!(trace = %of.trace, "a trace has as much as a trace may have; what is sent of it from now on is left out");
    built.write(of, Sent::of(sent, frames), extent, last.unwrap_or_default(), packer)
}

/// Rows to be written of what was sent, and the frames that they stand in.
struct Sent {
    rows: Vec<Row>,
    frames: Vec<Frame>,
}

impl Sent {
    /// A frame that nothing stands in any more is not kept.
    fn of(rows: Vec<Row>, mut frames: Vec<Frame>) -> Self {
        let needed: BTreeSet<FrameKey> = rows.iter().map(|row| row.frame).collect();
        frames.retain(|frame| needed.contains(&frame.key()));
        Self { rows, frames }
    }
}

/// A trace put together.
struct Built {
    state: TraceState,
    grown: Grown,
    /// Of the steps that the addition keeps.
    tally: Tally,
    whole: bool,
    sent_is_new: bool,
    /// Rows that the tables have of it.
    steps: u32,
    spans: u32,
    full: bool,
}

impl Built {
    /// From all its spans.
    fn anew(of: &Of, state: TraceState, grown: Grown) -> Self {
        let tally = Tally::new(of.trace, of.step_id_key.0, None);
        Self { state, grown, tally, whole: true, sent_is_new: false, steps: 0, spans: 0, full: false }
    }

    /// What to write. `last`: the last part that brought something.
    fn write(
        self,
        of: &Of,
        sent: Sent,
        extent: Extent,
        last: usize,
        packer: &mut Packer,
    ) -> Result<Outcome, ApplyError> {
        let Self { state, grown, mut tally, whole, sent_is_new, steps: steps_before, spans, full } = self;
        let Some(mark) = of.marks.get(last).copied() else { return Ok(Outcome::Nothing) };
        let (first_index, settled) = (grown.keep, state.settled_steps());
        let mut kept = None;
        let mut steps = Vec::with_capacity(grown.steps.len());
        for step in grown.steps {
            if kept.is_none() && tally.steps() == settled {
                kept = Some(tally.clone());
            }
            steps.push(tally.take(step));
        }
        let has_messages = state.is_shown();
        let span_count = spans.saturating_add(u32::try_from(grown.spans.len()).unwrap_or(u32::MAX));
        let step_count = tally.steps();
        let shown = has_messages.then(|| Shown {
            whole,
            cut: (!whole && steps_before > first_index).then_some(first_index),
            summary: tally.summary(grown.head, span_count),
            steps: StepsFrame { trace_id: of.trace, first_index, steps },
            spans: grown.spans,
            moved: grown.step_indices,
        });
        let memo = Memo {
            state,
            tally: kept.unwrap_or(tally),
            step_id_key: of.step_id_key,
            steps: step_count,
            spans: if has_messages { span_count } else { 0 },
            full,
        };
        Ok(Outcome::Write(Box::new(Change {
            trace: of.trace,
            external_id: of.otel_id.to_string(),
            sent: sent.rows,
            frames: sent.frames,
            sent_is_new,
            extent,
            has_messages,
            stands: has_messages,
            created_at: of.created_at,
            updated_at: mark.at,
            subject: mark.subject,
            memo: memo.pack(packer)?,
            shown,
        })))
    }
}
