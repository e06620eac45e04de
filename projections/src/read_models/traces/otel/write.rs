//! Writes what additions made of their traces, a statement for each table.

use super::assemble::{Change, Shown};
use crate::copy::CopyRows;
use crate::error::ApplyError;
use crate::read_models::traces::rows::{Rows, array_text};
use sqlx::PgConnection;
use stash_domain::ids::OwnerId;
use uuid::Uuid;

/// Name of the format, as in imports.
const FORMAT: &str = "otel";

/// Columns of what is written beside the canonical rows.
#[derive(Default)]
struct Columns {
    cut_traces: Vec<Uuid>,
    cut_at: Vec<i32>,
    moved_traces: Vec<Uuid>,
    moved_spans: Vec<String>,
    moved_indices: Vec<String>,
    /// Spans and log records that the table has not.
    new: CopyRows,
    frames: CopyRows,
    sent_traces: Vec<Uuid>,
    sent_spans: Vec<Vec<u8>>,
    sent_records: Vec<i64>,
    sent_subjects: Vec<Uuid>,
    sent_frames: Vec<i32>,
    sent_places: Vec<i32>,
    traces: Vec<Uuid>,
    external_ids: Vec<String>,
    span_counts: Vec<i32>,
    log_counts: Vec<i32>,
    first_ns: Vec<Option<String>>,
    last_ns: Vec<Option<String>>,
    has_messages: Vec<bool>,
    stands: Vec<bool>,
    created_at: Vec<i64>,
    updated_at: Vec<i64>,
    memos: Vec<Vec<u8>>,
}

/// Writes the changes of different traces. `rows` holds their subjects already.
pub(super) async fn write(
    tx: &mut PgConnection,
    owner: OwnerId,
    mut rows: Rows,
    changes: Vec<Change>,
) -> Result<(), ApplyError> {
    let mut columns = Columns::default();
    for change in changes {
        columns.take(owner, change, &mut rows)?;
    }
    columns.before(tx, owner).await?;
    rows.flush(tx).await?;
    columns.after(tx, owner).await
}

impl Columns {
    fn take(&mut self, owner: OwnerId, change: Change, rows: &mut Rows) -> Result<(), ApplyError> {
        let trace = change.trace;
        for row in change.sent {
            let (subject, frame) = row.frame;
            if change.sent_is_new {
                let fields = self.new.row(trace.0).uuid(owner.0).uuid(trace.0).bytes(row.span_id.bytes());
                fields.long(row.record).uuid(subject.0).int(frame).int(row.place).end()?;
                continue;
            }
            self.sent_traces.push(trace.0);
            self.sent_spans.push(row.span_id.bytes().to_vec());
            self.sent_records.push(row.record);
            self.sent_subjects.push(subject.0);
            self.sent_frames.push(frame);
            self.sent_places.push(row.place);
        }
        for frame in change.frames {
            let fields = self.frames.row(trace.0).uuid(owner.0).uuid(trace.0).uuid(frame.subject.0);
            fields.int(frame.number).bytes(&frame.content).end()?;
        }
        self.traces.push(trace.0);
        self.external_ids.push(change.external_id);
        self.span_counts.push(change.extent.spans);
        self.log_counts.push(change.extent.logs);
        self.first_ns.push(change.extent.first_ns.map(|ns| ns.to_string()));
        self.last_ns.push(change.extent.last_ns.map(|ns| ns.to_string()));
        self.has_messages.push(change.has_messages);
        self.stands.push(change.stands);
        self.created_at.push(change.created_at.0);
        self.updated_at.push(change.updated_at.0);
        self.memos.push(change.memo);
        let Some(Shown { whole, cut, steps, spans, moved, summary }) = change.shown else { return Ok(()) };
        if whole {
            rows.replace(trace);
        }
        if let Some(at) = cut {
            self.cut_traces.push(trace.0);
            self.cut_at.push(i32::try_from(at).unwrap_or(i32::MAX));
        }
        for (span, indices) in moved {
            self.moved_traces.push(trace.0);
            self.moved_spans.push(span);
            self.moved_indices.push(array_text(&indices));
        }
        rows.add_steps(steps)?;
        rows.add_live_spans(trace, &spans)?;
        rows.set_created(trace, change.created_at);
        rows.add_trace(summary, change.subject, FORMAT, change.updated_at)
    }

    /// What makes room for new rows.
    async fn before(&mut self, tx: &mut PgConnection, owner: OwnerId) -> Result<(), ApplyError> {
        if !self.cut_traces.is_empty() {
            sqlx::query(include_str!("cut_steps.sql"))
                .bind(owner.0)
                .bind(std::mem::take(&mut self.cut_traces))
                .bind(std::mem::take(&mut self.cut_at))
                .execute(&mut *tx)
                .await?;
        }
        if !self.moved_traces.is_empty() {
            sqlx::query(include_str!("point_spans.sql"))
                .bind(owner.0)
                .bind(std::mem::take(&mut self.moved_traces))
                .bind(std::mem::take(&mut self.moved_spans))
                .bind(std::mem::take(&mut self.moved_indices))
                .execute(&mut *tx)
                .await?;
        }
        Ok(())
    }

    /// What was sent, and what is remembered.
    async fn after(mut self, tx: &mut PgConnection, owner: OwnerId) -> Result<(), ApplyError> {
        if self.traces.is_empty() {
            return Ok(());
        }
        self.frames.write(tx, include_str!("copy_frames.sql")).await?;
        self.new.write(tx, include_str!("copy_spans.sql")).await?;
        if !self.sent_traces.is_empty() {
            sqlx::query(include_str!("upsert_spans.sql"))
                .bind(owner.0)
                .bind(&self.sent_traces)
                .bind(self.sent_spans)
                .bind(self.sent_records)
                .bind(self.sent_subjects)
                .bind(self.sent_frames)
                .bind(self.sent_places)
                .execute(&mut *tx)
                .await?;
            self.sent_traces.sort_unstable();
            self.sent_traces.dedup();
            sqlx::query(include_str!("drop_frames.sql")).bind(owner.0).bind(self.sent_traces).execute(&mut *tx).await?;
        }
        sqlx::query(include_str!("upsert_traces.sql"))
            .bind(owner.0)
            .bind(&self.traces)
            .bind(self.external_ids)
            .bind(self.span_counts)
            .bind(self.log_counts)
            .bind(self.first_ns)
            .bind(self.last_ns)
            .bind(self.has_messages)
            .bind(self.stands)
            .bind(self.created_at)
            .bind(self.updated_at)
            .execute(&mut *tx)
            .await?;
        sqlx::query(include_str!("upsert_states.sql"))
            .bind(owner.0)
            .bind(self.traces)
            .bind(self.memos)
            .execute(&mut *tx)
            .await?;
        Ok(())
    }
}
