//! Rows of traces on their way into the tables, column by column.

use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::ids::{OwnerId, SubjectId, TraceId};
use stash_domain::rendering::canonical_json;
use stash_domain::time::Timestamp;
use stash_domain::trace::Span;
use stash_domain::trace::frame::{SpansFrame, StepsFrame, SummaryFrame};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use uuid::Uuid;

/// Plain bytes of frames after which rows are written. One statement then carries about this much; a second copy of it may be
/// on its way to the server.
pub(super) const FLUSH_BYTES: usize = 8 * 1024 * 1024;

/// Rows of one owner.
pub(super) struct Rows {
    owner: OwnerId,
    bytes: usize,
    /// Traces whose rows in the tables go before these are written.
    replaced: HashSet<TraceId>,
    /// Traces with steps or spans gathered here.
    gathered: HashSet<TraceId>,
    steps: Steps,
    spans: Spans,
    traces: BTreeMap<TraceId, TraceRow>,
    /// When a trace whose row was gathered here and then replaced was first imported.
    created: BTreeMap<TraceId, Timestamp>,
    /// Every subject that a trace gathered here has had, also of rows since replaced: its deletion shreds them all.
    subjects: BTreeSet<(TraceId, SubjectId)>,
}

#[derive(Default)]
struct Steps {
    trace_id: Vec<Uuid>,
    idx: Vec<i32>,
    step_id: Vec<Uuid>,
    role: Vec<&'static str>,
    content: Vec<String>,
    tool_name: Vec<Option<String>>,
    tool_input: Vec<Option<String>>,
    tool_call_id: Vec<Option<String>>,
    metadata: Vec<Option<String>>,
    action_digest: Vec<Option<Vec<u8>>>,
}

#[derive(Default)]
struct Spans {
    trace_id: Vec<Uuid>,
    idx: Vec<i32>,
    span_id: Vec<String>,
    parent_id: Vec<Option<String>>,
    name: Vec<String>,
    kind: Vec<Option<String>>,
    start_ns: Vec<String>,
    end_ns: Vec<String>,
    input: Vec<Option<String>>,
    output: Vec<Option<String>>,
    step_indices: Vec<String>,
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
        Self {
            owner,
            bytes: 0,
            replaced: HashSet::new(),
            gathered: HashSet::new(),
            steps: Steps::default(),
            spans: Spans::default(),
            traces: BTreeMap::new(),
            created: BTreeMap::new(),
            subjects: BTreeSet::new(),
        }
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
        self.replaced.insert(trace);
        if let Some(row) = self.traces.remove(&trace) {
            self.created.insert(trace, row.created_at);
        }
        if !self.gathered.insert(trace) {
            self.steps.remove(trace);
            self.spans.remove(trace);
        }
    }

    pub(super) fn add_steps(&mut self, frame: StepsFrame) -> Result<(), ApplyError> {
        self.gathered.insert(frame.trace_id);
        for (index, stored) in (i64::from(frame.first_index)..).zip(frame.steps) {
            let steps = &mut self.steps;
            steps.trace_id.push(frame.trace_id.0);
            steps.idx.push(index_of(index)?);
            steps.step_id.push(stored.id.0);
            steps.role.push(stored.step.role.name());
            steps.content.push(stored.step.content);
            steps.tool_name.push(stored.step.tool_name);
            steps.tool_input.push(stored.step.tool_input.as_ref().map(canonical_json));
            steps.tool_call_id.push(stored.step.tool_call_id);
            steps.metadata.push(stored.step.metadata.as_ref().map(canonical_json));
            steps.action_digest.push(stored.action_digest.map(|digest| digest.0.to_vec()));
        }
        Ok(())
    }

    pub(super) fn add_spans(&mut self, frame: SpansFrame) -> Result<(), ApplyError> {
        self.gathered.insert(frame.trace_id);
        for (index, span) in (i64::from(frame.first_index)..).zip(frame.spans) {
            self.spans.push(frame.trace_id, index_of(index)?, span);
        }
        Ok(())
    }

    /// Spans that were sent live: they have no number.
    pub(super) fn add_live_spans(&mut self, trace: TraceId, spans: Vec<Span>) {
        self.gathered.insert(trace);
        spans.into_iter().for_each(|span| self.spans.push(trace, 0, span));
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
        self.subjects.insert((trace, subject));
        let row = TraceRow { summary, metadata, subject, source_format, created_at, updated_at: at };
        self.traces.insert(trace, row);
        Ok(())
    }

    /// A content subject of a trace, for its deletion.
    pub(super) fn add_subject(&mut self, trace: TraceId, subject: SubjectId) {
        self.subjects.insert((trace, subject));
    }

    /// Says when a trace came first, for a row that begins with what is added next.
    pub(super) fn set_created(&mut self, trace: TraceId, at: Timestamp) {
        self.created.insert(trace, at);
    }

    /// Writes what is gathered and ends.
    pub(super) async fn flush_all(mut self, tx: &mut PgConnection) -> Result<(), ApplyError> {
        self.flush(tx).await
    }

    /// Writes what is gathered.
    pub(super) async fn flush(&mut self, tx: &mut PgConnection) -> Result<(), ApplyError> {
        self.bytes = 0;
        self.gathered.clear();
        let replaced: Vec<Uuid> = self.replaced.drain().map(|trace| trace.0).collect();
        if !replaced.is_empty() {
            sqlx::query(include_str!("replaced.sql")).bind(self.owner.0).bind(replaced).execute(&mut *tx).await?;
        }
        self.flush_steps(tx).await?;
        self.flush_spans(tx).await?;
        self.flush_subjects(tx).await?;
        self.flush_traces(tx).await
    }

    async fn flush_steps(&mut self, tx: &mut PgConnection) -> Result<(), ApplyError> {
        let steps = std::mem::take(&mut self.steps);
        if steps.idx.is_empty() {
            return Ok(());
        }
        sqlx::query(include_str!("insert_steps.sql"))
            .bind(self.owner.0)
            .bind(steps.trace_id)
            .bind(steps.idx)
            .bind(steps.step_id)
            .bind(steps.role)
            .bind(steps.content)
            .bind(steps.tool_name)
            .bind(steps.tool_input)
            .bind(steps.tool_call_id)
            .bind(steps.metadata)
            .bind(steps.action_digest)
            .execute(tx)
            .await?;
        Ok(())
    }

    async fn flush_spans(&mut self, tx: &mut PgConnection) -> Result<(), ApplyError> {
        let spans = std::mem::take(&mut self.spans);
        if spans.idx.is_empty() {
            return Ok(());
        }
        sqlx::query(include_str!("insert_spans.sql"))
            .bind(self.owner.0)
            .bind(spans.trace_id)
            .bind(spans.idx)
            .bind(spans.span_id)
            .bind(spans.parent_id)
            .bind(spans.name)
            .bind(spans.kind)
            .bind(spans.start_ns)
            .bind(spans.end_ns)
            .bind(spans.input)
            .bind(spans.output)
            .bind(spans.step_indices)
            .execute(tx)
            .await?;
        Ok(())
    }

    async fn flush_subjects(&mut self, tx: &mut PgConnection) -> Result<(), ApplyError> {
        let (traces, subjects): (Vec<Uuid>, Vec<Uuid>) =
            std::mem::take(&mut self.subjects).into_iter().map(|(trace, subject)| (trace.0, subject.0)).unzip();
        if !traces.is_empty() {
            sqlx::query(include_str!("insert_subjects.sql"))
                .bind(self.owner.0)
                .bind(traces)
                .bind(subjects)
                .execute(tx)
                .await?;
        }
        Ok(())
    }

    async fn flush_traces(&mut self, tx: &mut PgConnection) -> Result<(), ApplyError> {
        let rows: Vec<TraceRow> = std::mem::take(&mut self.traces).into_values().collect();
        if rows.is_empty() {
            return Ok(());
        }
        let ids: Vec<Uuid> = rows.iter().map(|row| row.summary.trace_id.0).collect();
        let subjects: Vec<Uuid> = rows.iter().map(|row| row.subject.0).collect();
        let count = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        sqlx::query(include_str!("upsert.sql"))
            .bind(self.owner.0)
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
            .execute(tx)
            .await?;
        Ok(())
    }
}

/// An index or count as the tables hold it.
fn index_of(index: i64) -> Result<i32, ApplyError> {
    i32::try_from(index).map_err(|_| ApplyError::poison("index_out_of_range", index))
}

/// Keeps the elements of a column whose row is kept.
fn keep<T>(column: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    column.retain(|_| kept.next().copied().unwrap_or(true));
}

impl Steps {
    fn remove(&mut self, trace: TraceId) {
        let kept: Vec<bool> = self.trace_id.iter().map(|id| *id != trace.0).collect();
        keep(&mut self.trace_id, &kept);
        keep(&mut self.idx, &kept);
        keep(&mut self.step_id, &kept);
        keep(&mut self.role, &kept);
        keep(&mut self.content, &kept);
        keep(&mut self.tool_name, &kept);
        keep(&mut self.tool_input, &kept);
        keep(&mut self.tool_call_id, &kept);
        keep(&mut self.metadata, &kept);
        keep(&mut self.action_digest, &kept);
    }
}

/// Indices as the text of an array: unnest() would flatten nested ones.
pub(super) fn array_text(indices: &[u32]) -> String {
    let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
    format!("{{{}}}", indices.join(","))
}

impl Spans {
    fn push(&mut self, trace: TraceId, idx: i32, span: Span) {
        self.trace_id.push(trace.0);
        self.idx.push(idx);
        self.span_id.push(span.id);
        self.parent_id.push(span.parent_id);
        self.name.push(span.name);
        self.kind.push(span.kind);
        self.start_ns.push(span.start_ns.to_string());
        self.end_ns.push(span.end_ns.to_string());
        self.input.push(span.input);
        self.output.push(span.output);
        self.step_indices.push(array_text(&span.step_indices));
    }

    fn remove(&mut self, trace: TraceId) {
        let kept: Vec<bool> = self.trace_id.iter().map(|id| *id != trace.0).collect();
        keep(&mut self.trace_id, &kept);
        keep(&mut self.idx, &kept);
        keep(&mut self.span_id, &kept);
        keep(&mut self.parent_id, &kept);
        keep(&mut self.name, &kept);
        keep(&mut self.kind, &kept);
        keep(&mut self.start_ns, &kept);
        keep(&mut self.end_ns, &kept);
        keep(&mut self.input, &kept);
        keep(&mut self.output, &kept);
        keep(&mut self.step_indices, &kept);
    }
}
