//! `rm_otel_frames`, `rm_otel_spans`, `rm_otel_traces`, `rm_otel_states`: what was sent live, and the traces that it makes.
//!
//! 1. Requests of an owner are gathered, over many records, and their frames opened.
//! 2. What is remembered of their traces is loaded, and what is new is added to it, side by side on all cores ([`assemble`]), while
//!    what was assembled before is written, unless both concern one trace.
//! 3. Traces that have to be built again get all of their spans, which the tables have.
//! 4. Everything is written, by the same code that writes imports.
//!
//! What holds: the rows depend on the order of the log alone, whatever is gathered together. A span that comes again changes
//! nothing. After a deletion a trace begins anew with what comes then; its earlier spans are gone. An import of the same id
//! replaces what is shown; the next span that is new shows again what all spans give.

mod assemble;
mod memo;
mod packed;
mod parts;
mod sets;
mod stored;
mod write;

use super::rows::Rows;
use crate::error::ApplyError;
use crate::read_models::{Tools, bundle_error};
use assemble::{Change, Outcome, Pending};
use memo::Held;
use packed::Packer;
use parts::{Addition, Found, Sealed};
use sqlx::PgConnection;
use stash_domain::events::OtelReceived;
use stash_domain::ids::{OwnerId, SubjectId};
use stash_domain::otel::OtelSpanId;
use stash_domain::otel::frame::OtelFrame;
use stash_domain::sealed::Opened;
use stash_domain::time::Timestamp;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::Purpose;
use std::collections::{HashMap, HashSet};
use stored::{Row, Stored};
use uuid::Uuid;

pub(in crate::read_models) const DDL: &str = include_str!("table.sql");

/// Stored spans that are loaded at once to build traces again, unless one trace has more.
const STORED_ROWS_TARGET: i64 = 4_000;

/// Bytes of frames, with what repeats in them, that are applied at once. While spans become rows, several forms of them are held.
const PART_BYTES: usize = 2 * 1024 * 1024;

/// Requests of one owner that are to be applied.
pub(super) struct Live<'a> {
    owner: OwnerId,
    requests: Vec<(Timestamp, &'a OtelReceived)>,
}

/// What is assembled and is to be written.
struct Ready {
    rows: Rows,
    changes: Vec<Change>,
}

impl Ready {
    /// Whether it changes one of their traces.
    fn concerns(&self, additions: &[Addition]) -> bool {
        let changed: HashSet<Uuid> = self.changes.iter().map(|change| change.trace.0).collect();
        additions.iter().any(|addition| changed.contains(&addition.trace.0))
    }
}

impl<'a> Live<'a> {
    pub(super) fn new(owner: OwnerId) -> Self {
        Self { owner, requests: Vec::new() }
    }

    pub(super) fn owner(&self) -> OwnerId {
        self.owner
    }

    /// Gathers a request.
    pub(super) fn receive(&mut self, at: Timestamp, event: &'a OtelReceived) {
        self.requests.push((at, event));
    }

    /// Applies what is gathered, some of it at a time. While one part is written, the next is assembled and the one after it opened:
    /// the database works on one while this process works on the others.
    pub(super) async fn apply(mut self, tx: &mut PgConnection, tools: &Tools) -> Result<(), ApplyError> {
        let requests = std::mem::take(&mut self.requests);
        let mut frames = Frames::new(self.owner, requests, tools);
        let mut opened = frames.next().await?;
        let mut ready: Option<Ready> = None;
        while !opened.is_empty() || ready.is_some() {
            let additions = parts::by_trace(opened);
            if ready.as_ref().is_some_and(|ready| ready.concerns(&additions)) {
                self.write(tx, ready.take()).await?;
            }
            let held = self.load(tx, &additions).await?;
            let next = async {
                let (made, pending) = self.assemble(additions, held).await?;
                Ok((made, pending, frames.next().await?))
            };
            let (written, made): (_, Result<_, ApplyError>) = tokio::join!(self.write(tx, ready.take()), next);
            written?;
            let pending;
            (ready, pending, opened) = made?;
            if !pending.is_empty() {
                // They are built from the tables, which must have all that comes before.
                self.write(tx, ready.take()).await?;
                self.build_again(tx, pending).await?;
            }
        }
        Ok(())
    }

    async fn write(&self, tx: &mut PgConnection, ready: Option<Ready>) -> Result<(), ApplyError> {
        match ready {
            Some(Ready { rows, changes }) => write::write(tx, self.owner, rows, changes).await,
            None => Ok(()),
        }
    }

    /// Adds to the traces what was opened. `held`: what the tables have of them.
    async fn assemble(
        &self,
        additions: Vec<Addition>,
        mut held: HashMap<Uuid, Held>,
    ) -> Result<(Option<Ready>, Vec<Pending>), ApplyError> {
        if additions.is_empty() {
            return Ok((None, Vec::new()));
        }
        let mut rows = Rows::new(self.owner);
        for addition in &additions {
            addition.subjects().for_each(|subject| rows.add_subject(addition.trace, subject));
        }
        let work = additions.into_iter().map(|addition| (held.remove(&addition.trace.0), addition)).collect();
        let outcomes = side_by_side(work, |work: Vec<(Option<Held>, Addition)>| {
            let mut packer = Packer::new()?;
            work.into_iter().map(|(held, addition)| assemble::add(held, addition, &mut packer)).collect()
        });
        let mut changes: Vec<Change> = Vec::new();
        let mut pending: Vec<Pending> = Vec::new();
        for outcome in outcomes.await?.into_iter().flatten() {
            match outcome {
                Outcome::Nothing => {}
                Outcome::Write(change) => changes.push(*change),
                Outcome::NeedsAll(trace) => pending.push(*trace),
            }
        }
        Ok((Some(Ready { rows, changes }), pending))
    }

    async fn load(&self, tx: &mut PgConnection, additions: &[Addition]) -> Result<HashMap<Uuid, Held>, ApplyError> {
        if additions.is_empty() {
            return Ok(HashMap::new());
        }
        let traces: Vec<Uuid> = additions.iter().map(|addition| addition.trace.0).collect();
        let held: Vec<Held> =
            sqlx::query_as(include_str!("load.sql")).bind(self.owner.0).bind(traces).fetch_all(&mut *tx).await?;
        Ok(held.into_iter().map(|held| (held.trace_id, held)).collect())
    }

    /// Builds traces from all of their spans, some at a time.
    async fn build_again(&self, tx: &mut PgConnection, mut pending: Vec<Pending>) -> Result<(), ApplyError> {
        while !pending.is_empty() {
            let mut rows = 0;
            let fit = pending.iter().take_while(|trace| {
                let fits = rows == 0 || rows + trace.stored <= STORED_ROWS_TARGET;
                rows += trace.stored.max(1);
                fits
            });
            let rest = pending.split_off(fit.count().max(1));
            let now = std::mem::replace(&mut pending, rest);
            let traces: Vec<Uuid> = now.iter().map(|trace| trace.of.trace.0).collect();
            let mut by_trace = self.stored(tx, traces).await?;
            let work = now.into_iter().map(|trace| (by_trace.remove(&trace.of.trace.0).unwrap_or_default(), trace));
            let outcomes = side_by_side(work.collect(), |work: Vec<(Stored, Pending)>| {
                let mut packer = Packer::new()?;
                work.into_iter().map(|(stored, trace)| assemble::again(trace, &stored, &mut packer)).collect()
            });
            let changes = outcomes.await?.into_iter().flatten().filter_map(|outcome| match outcome {
                Outcome::Write(change) => Some(*change),
                Outcome::Nothing | Outcome::NeedsAll(_) => None,
            });
            write::write(tx, self.owner, Rows::new(self.owner), changes.collect()).await?;
        }
        Ok(())
    }

    /// What the tables have of traces.
    async fn stored(&self, tx: &mut PgConnection, traces: Vec<Uuid>) -> Result<HashMap<Uuid, Stored>, ApplyError> {
        let mut by_trace: HashMap<Uuid, Stored> = HashMap::new();
        let rows: Vec<(Uuid, Vec<u8>, i64, Uuid, i32, i32)> =
            sqlx::query_as(include_str!("stored.sql")).bind(self.owner.0).bind(&traces).fetch_all(&mut *tx).await?;
        for (trace, span_id, record, subject, frame, place) in rows {
            let span_id =
                OtelSpanId::from_bytes(&span_id).ok_or_else(|| ApplyError::damaged("rm_otel_spans.span_id"))?;
            let row = Row { span_id, record, frame: (SubjectId(subject), frame), place };
            by_trace.entry(trace).or_default().rows.push(row);
        }
        let frames: Vec<(Uuid, Uuid, i32, Vec<u8>)> =
            sqlx::query_as(include_str!("frames.sql")).bind(self.owner.0).bind(&traces).fetch_all(&mut *tx).await?;
        for (trace, subject, number, content) in frames {
            let frame = stored::Frame { subject: SubjectId(subject), number, content };
            by_trace.entry(trace).or_default().frames.push(frame);
        }
        Ok(by_trace)
    }
}

/// Frames of requests, in their order.
struct Frames<'a> {
    owner: OwnerId,
    requests: std::vec::IntoIter<(Timestamp, &'a OtelReceived)>,
    tools: &'a Tools,
    reading: Option<(Timestamp, BundleReader)>,
}

impl<'a> Frames<'a> {
    fn new(owner: OwnerId, requests: Vec<(Timestamp, &'a OtelReceived)>, tools: &'a Tools) -> Self {
        Self { owner, requests: requests.into_iter(), tools, reading: None }
    }

    /// The next frames, opened: of about [`PART_BYTES`], and none at the end.
    async fn next(&mut self) -> Result<Vec<Found>, ApplyError> {
        let (mut frames, mut bytes) = (Vec::new(), 0);
        while bytes < PART_BYTES {
            let Some(sealed) = self.frame().await? else { break };
            bytes += OtelFrame::whole_bytes(&sealed.frame.content);
            frames.push(sealed);
        }
        Ok(side_by_side(frames, parts::open).await?.into_iter().flatten().collect())
    }

    /// The next frame whose key is there: a trace's that was deleted later in the log is passed over.
    async fn frame(&mut self) -> Result<Option<Sealed>, ApplyError> {
        loop {
            let Some((at, reader)) = &mut self.reading else {
                let Some((at, event)) = self.requests.next() else { return Ok(None) };
                let (keys, store) = (self.tools.keys.clone(), self.tools.store.clone());
                let reader = BundleReader::open(keys, store, self.owner, Purpose::OTEL_FRAMES, event.bundle.clone());
                self.reading = Some((at, reader.map_err(bundle_error)?));
                continue;
            };
            match reader.next().await.map_err(bundle_error)? {
                None => self.reading = None,
                Some(frame) => {
                    let Opened::Clear(content) = frame.content else { continue };
                    let number = i32::try_from(frame.index)
                        .map_err(|_| ApplyError::poison("bundle_damaged", "it has too many frames"))?;
                    let frame = stored::Frame { subject: frame.subject, number, content };
                    return Ok(Some(Sealed { at: *at, frame }));
                }
            }
        }
    }
}

/// Works through items in order, a share of them on each core.
async fn side_by_side<T: Send + 'static, R: Send + 'static>(
    mut items: Vec<T>,
    work: fn(Vec<T>) -> Result<Vec<R>, ApplyError>,
) -> Result<Vec<Vec<R>>, ApplyError> {
    let shares = std::thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(shares).max(1);
    let mut running = Vec::new();
    while !items.is_empty() {
        let rest = items.split_off(share.min(items.len()));
        let share = std::mem::replace(&mut items, rest);
        running.push(tokio::task::spawn_blocking(move || work(share)));
    }
    let mut done = Vec::with_capacity(running.len());
    for share in running {
        done.push(share.await.map_err(|error| match error.is_panic() {
            true => ApplyError::poison("fold_panicked", error),
            false => ApplyError::Unavailable("the process is stopping".to_owned()),
        })??);
    }
    Ok(done)
}
