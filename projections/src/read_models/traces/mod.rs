//! `rm_traces`, `rm_steps`, `rm_spans`: each trace as its newest import left it, or as what was sent live of it gives
//! ([`otel`]), under the title that it was given since ([`titles`]).
//!
//! Frames of a bundle come in the order of the log and are gathered into [`rows::Rows`], which is written whenever it holds
//! [`rows::FLUSH_BYTES`], so that memory is bounded whatever the size of an import or of a single trace. A trace's first frame,
//! which in a trace without steps is no step frame, replaces whatever rows the trace had.
//!
//! Content whose key is gone is passed over: its trace was deleted later in the log, so that after the whole log is applied a
//! rebuild has the rows of the live model.

mod otel;
mod rows;
mod titles;

use super::{Accepted, Kind, Shredded, Tools, bundle_error};
use crate::error::ApplyError;
use otel::Live;
use rows::{Batch, Rows};
use sqlx::PgConnection;
use stash_domain::events::{Event, TraceDeleted, TracesImported};
use stash_domain::ids::{OwnerId, SubjectId, TraceId};
use stash_domain::sealed::Opened;
use stash_domain::trace::frame::Frame;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::Purpose;
use uuid::Uuid;

pub(super) const DDL: &str = include_str!("table.sql");
pub(super) use otel::DDL as OTEL_DDL;

/// Applies the batch, and says whose keys are to be forgotten once it is committed.
pub(super) async fn apply(
    tx: &mut PgConnection,
    batch: &[Accepted<'_>],
    tools: &Tools,
) -> Result<Shredded, ApplyError> {
    let mut shredded = Shredded::new();
    let mut gathered = Gathered::Nothing;
    // An owner's records stand in one partition, in their order; owners have nothing to do with each other. So what each did
    // lately is gathered together.
    let mut batch: Vec<&Accepted<'_>> = batch.iter().collect();
    batch.sort_by_key(|item| item.record.owner_id);
    for item in batch {
        let owner = item.record.owner_id;
        for event in item.events() {
            match event {
                Event::TracesImported(event) => {
                    let rows = gathered.import(tx, owner, tools).await?;
                    import(tx, rows, item, event, tools).await?;
                }
                Event::OtelReceived(event) => {
                    gathered.live(tx, owner, tools).await?.receive(item.context().recorded_at, event);
                }
                Event::TraceDeleted(event) => {
                    // What was gathered comes before the deletion.
                    gathered.flush(tx, tools).await?;
                    shredded.push((owner, delete(tx, owner, event, tools).await?));
                }
                event if titles::is_about_titles(event) => {
                    gathered.flush(tx, tools).await?;
                    titles::apply(tx, item, event, tools).await?;
                }
                _ => {}
            }
        }
    }
    gathered.flush(tx, tools).await?;
    Ok(shredded)
}

/// What is not written yet: rows of imports, or what was sent live, of one owner. It is written before anything else is
/// gathered, so that all of it takes effect in the order of the log.
enum Gathered<'a> {
    Nothing,
    Imports(Box<Rows>),
    Live(Live<'a>),
}

impl<'a> Gathered<'a> {
    /// To gather an import of this owner.
    async fn import(&mut self, tx: &mut PgConnection, owner: OwnerId, tools: &Tools) -> Result<&mut Rows, ApplyError> {
        if !matches!(self, Self::Imports(rows) if rows.owner() == owner) {
            self.flush(tx, tools).await?;
            *self = Self::Imports(Box::new(Rows::new(owner)));
        }
        match self {
            Self::Imports(rows) => Ok(rows),
            _ => Err(ApplyError::Unavailable("rows are not gathered".to_owned())),
        }
    }

    /// To gather what was sent to this owner's traces.
    async fn live(
        &mut self,
        tx: &mut PgConnection,
        owner: OwnerId,
        tools: &Tools,
    ) -> Result<&mut Live<'a>, ApplyError> {
        if !matches!(self, Self::Live(live) if live.owner() == owner) {
            self.flush(tx, tools).await?;
            *self = Self::Live(Live::new(owner));
        }
        match self {
            Self::Live(live) => Ok(live),
            _ => Err(ApplyError::Unavailable("spans are not gathered".to_owned())),
        }
    }

    async fn flush(&mut self, tx: &mut PgConnection, tools: &Tools) -> Result<(), ApplyError> {
        match std::mem::replace(self, Self::Nothing) {
            Self::Nothing => Ok(()),
            Self::Imports(mut rows) => rows.flush(tx).await,
            Self::Live(live) => live.apply(tx, tools).await,
        }
    }
}

/// Gathers an import. What is full is written while the next is gathered: the database works on one while this process decodes
/// the other.
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
    let mut full = Batch::default();
    loop {
        let (written, filled) =
            tokio::join!(full.write(tx, owner), gather(&mut reader, &mut current, rows, item, event));
        written?;
        if !filled? {
            return Ok(());
        }
        full = rows.take();
    }
}

/// Reads frames until it is time to write (true), or to the end of the bundle.
async fn gather(
    reader: &mut BundleReader,
    current: &mut Option<TraceId>,
    rows: &mut Rows,
    item: &Accepted<'_>,
    event: &TracesImported,
) -> Result<bool, ApplyError> {
    while let Some(frame) = reader.next().await.map_err(bundle_error)? {
        let Opened::Clear(plain) = frame.content else { continue };
        let decoded = Frame::decode(&plain).map_err(|error| ApplyError::poison("frame_damaged", error))?;
        let trace = match &decoded {
            Frame::Steps(steps) => steps.trace_id,
            Frame::Spans(spans) => spans.trace_id,
            Frame::Summary(summary) => summary.trace_id,
        };
        if *current != Some(trace) {
            rows.replace(trace);
            *current = Some(trace);
        }
        match decoded {
            Frame::Steps(steps) => rows.add_steps(steps)?,
            Frame::Spans(spans) => rows.add_spans(spans)?,
            Frame::Summary(summary) => {
                *current = None;
                rows.add_trace(summary, frame.subject, &event.source_format, item.context().recorded_at)?;
            }
        }
        if rows.is_full(plain.len()) {
            return Ok(true);
        }
        // Lets what is being written go on.
        tokio::task::yield_now().await;
    }
    Ok(false)
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
