//! `rm_traces`, `rm_steps`, `rm_spans`: each trace as its newest import left it.
//!
//! Frames of a bundle come in the order of the log and are gathered into [`rows::Rows`], which is written whenever it holds
//! [`rows::FLUSH_BYTES`], so that memory is bounded whatever the size of an import or of a single trace. A trace's first frame,
//! which in a trace without steps is no step frame, replaces whatever rows the trace had.
//!
//! Content whose key is gone is passed over: its trace was deleted later in the log, so that after the whole log is applied a
//! rebuild has the rows of the live model.

mod rows;

use super::{Accepted, Kind, Shredded, Tools, bundle_error};
use crate::error::ApplyError;
use rows::Rows;
use sqlx::PgConnection;
use stash_domain::events::{Event, TraceDeleted, TracesImported};
use stash_domain::ids::{OwnerId, SubjectId, TraceId};
use stash_domain::sealed::Opened;
use stash_domain::trace::frame::Frame;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::Purpose;
use uuid::Uuid;

pub(super) const DDL: &str = include_str!("table.sql");

/// Applies the batch, and says whose keys are to be forgotten once it is committed.
pub(super) async fn apply(
    tx: &mut PgConnection,
    batch: &[Accepted<'_>],
    tools: &Tools,
) -> Result<Shredded, ApplyError> {
    let mut shredded = Shredded::new();
    let mut rows: Option<Rows> = None;
    for item in batch {
        let owner = item.record.owner_id;
        for event in item.events() {
            match event {
                Event::TracesImported(event) => {
                    let mut open = match rows.take() {
                        Some(open) if open.owner() == owner => open,
                        Some(open) => {
                            open.flush_all(tx).await?;
                            Rows::new(owner)
                        }
                        None => Rows::new(owner),
                    };
                    import(tx, &mut open, item, event, tools).await?;
                    rows = Some(open);
                }
                Event::TraceDeleted(event) => {
                    // What was gathered comes before the deletion.
                    if let Some(open) = rows.take() {
                        open.flush_all(tx).await?;
                    }
                    shredded.push((owner, delete(tx, owner, event, tools).await?));
                }
                _ => {}
            }
        }
    }
    if let Some(open) = rows {
        open.flush_all(tx).await?;
    }
    Ok(shredded)
}

async fn import(
    tx: &mut PgConnection,
    rows: &mut Rows,
    item: &Accepted<'_>,
    event: &TracesImported,
    tools: &Tools,
) -> Result<(), ApplyError> {
    let owner = item.record.owner_id;
    let mut reader =
        BundleReader::open(tools.keys.clone(), tools.store.clone(), owner, Purpose::TRACE_FRAMES, event.bundle.clone())
            .map_err(bundle_error)?;
    // The trace whose frames are being read: its summary, the last one, has not come yet.
    let mut current: Option<TraceId> = None;
    while let Some(frame) = reader.next().await.map_err(bundle_error)? {
        let Opened::Clear(plain) = frame.content else { continue };
        let decoded = Frame::decode(&plain).map_err(|error| ApplyError::poison("frame_damaged", error))?;
        let trace = match &decoded {
            Frame::Steps(steps) => steps.trace_id,
            Frame::Spans(spans) => spans.trace_id,
            Frame::Summary(summary) => summary.trace_id,
        };
        if current != Some(trace) {
            rows.replace(trace);
            current = Some(trace);
        }
        match decoded {
            Frame::Steps(steps) => rows.add_steps(steps)?,
            Frame::Spans(spans) => rows.add_spans(spans)?,
            Frame::Summary(summary) => {
                current = None;
                rows.add_trace(summary, frame.subject, &event.source_format, item.context().recorded_at)?;
            }
        }
        if rows.is_full(plain.len()) {
            rows.flush(tx).await?;
        }
    }
    Ok(())
}

/// Removes a trace's rows, and with the live ones the keys of all its imports so far. Gives the subjects erased.
async fn delete(
    tx: &mut PgConnection,
    owner: OwnerId,
    event: &TraceDeleted,
    tools: &Tools,
) -> Result<Vec<SubjectId>, ApplyError> {
    let trace = event.trace_id;
    sqlx::query(include_str!("delete.sql")).bind(owner.0).bind(trace.0).execute(&mut *tx).await?;
    let subjects: Vec<(Uuid,)> =
        sqlx::query_as(include_str!("take_subjects.sql")).bind(owner.0).bind(trace.0).fetch_all(&mut *tx).await?;
    let mut subjects: Vec<SubjectId> = subjects.into_iter().map(|(id,)| SubjectId(id)).collect();
    subjects.push(trace.into());
    if tools.kind == Kind::Live {
        tools.keys.shred_in(tx, owner, &subjects).await.map_err(|error| ApplyError::Unavailable(error.to_string()))?;
    }
    Ok(subjects)
}
