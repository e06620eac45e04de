//! Rows of traces on their way into the tables.

use crate::copy::CopyRows;
use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::ids::{OwnerId, SubjectId, TraceId};
use stash_domain::otel::GrownSpan;
use stash_domain::rendering::canonical_json;
use stash_domain::time::Timestamp;
use stash_domain::trace::Span;
use stash_domain::trace::frame::{SpansFrame, StepsFrame, SummaryFrame};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use uuid::Uuid;

/// Plain bytes of frames after which rows are written. The next ones are gathered meanwhile, so that twice as much may be held.
const FLUSH_BYTES: usize = 8 * 1024 * 1024;

/// Writes rows of traces, under the titles that were given since.
const UPSERT: &str =
    concat!(include_str!("upsert.sql"), include_str!("resolve_title.sql"), include_str!("upsert_end.sql"));

/// Rows of one owner.
pub(super) struct Rows {
    owner: OwnerId,
    bytes: usize,
    batch: Batch,
    /// When a trace whose row was gathered here and then replaced was first imported.
    created: BTreeMap<TraceId, Timestamp>,
}

/// What is written at once.
#[derive(Default)]
pub(super) struct Batch {
    /// Traces whose rows in the tables go before these are written.
    replaced: HashSet<TraceId>,
    /// Traces with steps or spans gathered here.
    gathered: HashSet<TraceId>,
    steps: CopyRows,
    spans: CopyRows,
    traces: BTreeMap<TraceId, TraceRow>,
    /// Every subject that a trace gathered here has had, also of rows since replaced: its deletion shreds them all.
    subjects: BTreeSet<(TraceId, SubjectId)>,
}

struct TraceRow {
    summary: SummaryFrame,
    metadata: String,
    subject: SubjectId,
    source_format: String,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl Rows {
    pub(super) fn new(owner: OwnerId) -> Self {
        Self { owner, bytes: 0, batch: Batch::default(), created: BTreeMap::new() }
    }

    pub(super) fn owner(&self) -> OwnerId {
        self.owner
    }

    /// Counts a frame's bytes and says whether it is time to write.
    pub(super) fn is_full(&mut self, frame_bytes: usize) -> bool {
        self.bytes += frame_bytes;
        self.bytes >= FLUSH_BYTES
    }

    /// The trace is written anew: rows it has in the tables, and rows gathered here by an earlier import, go.
    pub(super) fn replace(&mut self, trace: TraceId) {
        self.batch.replaced.insert(trace);
        if let Some(row) = self.batch.traces.remove(&trace) {
            self.created.insert(trace, row.created_at);
        }
        if !self.batch.gathered.insert(trace) {
            self.batch.steps.remove(trace.0);
            self.batch.spans.remove(trace.0);
        }
    }

    pub(super) fn add_steps(&mut self, frame: StepsFrame) -> Result<(), ApplyError> {
        let trace = frame.trace_id;
        self.batch.gathered.insert(trace);
        for (index, stored) in (i64::from(frame.first_index)..).zip(frame.steps) {
            let step = stored.step;
            let input = step.tool_input.as_ref().map(canonical_json);
            let metadata = step.metadata.as_ref().map(canonical_json);
            let idx = index_of(index)?;
            let row = self.batch.steps.row(trace.0).uuid(self.owner.0).uuid(trace.0).int(idx);
            row.uuid(stored.id.0)
                .text(step.role.name())
                .text(&step.content)
                .maybe_text(step.tool_name.as_deref())
                .maybe_text(input.as_deref())
                .maybe_text(step.tool_call_id.as_deref())
                .maybe_text(metadata.as_deref())
                .maybe(stored.action_digest.as_ref().map(|digest| digest.0.as_slice()))
                .end()?;
        }
        Ok(())
    }

    pub(super) fn add_spans(&mut self, frame: SpansFrame) -> Result<(), ApplyError> {
        self.batch.gathered.insert(frame.trace_id);
        for (index, span) in (i64::from(frame.first_index)..).zip(frame.spans) {
            self.add_span(frame.trace_id, index_of(index)?, &span, None)?;
        }
        Ok(())
    }

    /// Spans that were sent live: they have no number.
    pub(super) fn add_live_spans(&mut self, trace: TraceId, spans: &[GrownSpan]) -> Result<(), ApplyError> {
        self.batch.gathered.insert(trace);
        let mut add = |grown: &GrownSpan| self.add_span(trace, 0, &grown.span, grown.said_bytes);
        spans.iter().try_for_each(&mut add)
    }

    /// `said_bytes`: see [`GrownSpan::said_bytes`].
    fn add_span(&mut self, trace: TraceId, idx: i32, span: &Span, said_bytes: Option<u32>) -> Result<(), ApplyError> {
        let said_bytes = said_bytes.map(|bytes| i32::try_from(bytes).unwrap_or(i32::MAX));
        let indices: Result<Vec<i32>, ApplyError> =
            span.step_indices.iter().map(|index| index_of(i64::from(*index))).collect();
        let row = self.batch.spans.row(trace.0).uuid(self.owner.0).uuid(trace.0).int(idx);
        row.text(&span.id)
            .maybe_text(span.parent_id.as_deref())
            .text(&span.name)
            .maybe_text(span.kind.as_deref())
            .numeric(span.start_ns)
            .numeric(span.end_ns)
            .maybe_text(span.input.as_deref())
            .maybe_text(span.output.as_deref())
            .maybe(said_bytes.map(i32::to_be_bytes).as_ref().map(<[u8; 4]>::as_slice))
            .ints(&indices?)
            .end()
    }

    pub(super) fn add_trace(
        &mut self,
        summary: SummaryFrame,
        subject: SubjectId,
        source_format: &str,
        at: Timestamp,
    ) -> Result<(), ApplyError> {
        for count in [summary.step_count, summary.action_count, summary.span_count] {
            index_of(i64::from(count))?;
        }
        let metadata = canonical_json(&summary.metadata);
        let trace = summary.trace_id;
        let created_at = self.created.remove(&trace).unwrap_or(at);
        let source_format = source_format.to_owned();
        self.batch.subjects.insert((trace, subject));
        let row = TraceRow { summary, metadata, subject, source_format, created_at, updated_at: at };
        self.batch.traces.insert(trace, row);
        Ok(())
    }

    /// A content subject of a trace, for its deletion.
    pub(super) fn add_subject(&mut self, trace: TraceId, subject: SubjectId) {
        self.batch.subjects.insert((trace, subject));
    }

    /// Says when a trace came first, for a row that begins with what is added next.
    pub(super) fn set_created(&mut self, trace: TraceId, at: Timestamp) {
        self.created.insert(trace, at);
    }

    /// Gives away what is gathered. What is gathered from here on is to be written after it.
    pub(super) fn take(&mut self) -> Batch {
        self.bytes = 0;
        std::mem::take(&mut self.batch)
    }

    /// Writes what is gathered.
    pub(super) async fn flush(&mut self, tx: &mut PgConnection) -> Result<(), ApplyError> {
        self.take().write(tx, self.owner).await
    }
}

impl Batch {
    /// Writes it.
    pub(super) async fn write(self, tx: &mut PgConnection, owner: OwnerId) -> Result<(), ApplyError> {
        let replaced: Vec<Uuid> = self.replaced.iter().map(|trace| trace.0).collect();
        if !replaced.is_empty() {
            sqlx::query(include_str!("replaced.sql")).bind(owner.0).bind(replaced).execute(&mut *tx).await?;
        }
        self.steps.write(tx, include_str!("copy_steps.sql")).await?;
        self.spans.write(tx, include_str!("copy_spans.sql")).await?;
        write_subjects(self.subjects, tx, owner).await?;
        write_traces(self.traces, tx, owner).await
    }
}

async fn write_subjects(
    subjects: BTreeSet<(TraceId, SubjectId)>,
    tx: &mut PgConnection,
    owner: OwnerId,
) -> Result<(), ApplyError> {
    let (traces, subjects): (Vec<Uuid>, Vec<Uuid>) =
        subjects.into_iter().map(|(trace, subject)| (trace.0, subject.0)).unzip();
    if !traces.is_empty() {
        sqlx::query(include_str!("insert_subjects.sql")).bind(owner.0).bind(traces).bind(subjects).execute(tx).await?;
    }
    Ok(())
}

async fn write_traces(
    traces: BTreeMap<TraceId, TraceRow>,
    tx: &mut PgConnection,
    owner: OwnerId,
) -> Result<(), ApplyError> {
    let rows: Vec<TraceRow> = traces.into_values().collect();
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = rows.iter().map(|row| row.summary.trace_id.0).collect();
    let subjects: Vec<Uuid> = rows.iter().map(|row| row.subject.0).collect();
    let count = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    sqlx::query(UPSERT)
        .bind(owner.0)
        .bind(ids)
        .bind(subjects)
        .bind(rows.iter().map(|row| row.summary.external_id.as_deref()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.summary.title.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.summary.title_source.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.source_format.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.metadata.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| count(row.summary.step_count)).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| count(row.summary.action_count)).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| count(row.summary.span_count)).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.summary.trace_digest.0.to_vec()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.created_at.0).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.updated_at.0).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.summary.title_basis.map(|basis| basis.0.to_vec())).collect::<Vec<_>>())
        .execute(tx)
        .await?;
    Ok(())
}

/// An index or count as the tables hold it.
fn index_of(index: i64) -> Result<i32, ApplyError> {
    i32::try_from(index).map_err(|_| ApplyError::poison("index_out_of_range", index))
}

/// Indices as the text of an array: unnest() would flatten nested ones.
pub(super) fn array_text(indices: &[u32]) -> String {
    let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
    format!("{{{}}}", indices.join(","))
}
