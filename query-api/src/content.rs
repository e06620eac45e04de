//! Steps and spans out of the read models, in pieces of bounded size.
//!
//! A piece is at most [`ROWS_MAX`] rows and about [`BYTES_MAX`] bytes, or one row that is larger. Every piece is read whole before
//! it is used, so that a slow client never keeps a statement running.

mod said;

use crate::body::{BodyError, Writer};
use crate::types::{JsonText, Span, Step};
use sqlx::{FromRow, PgConnection};
use stash_domain::ids::OwnerId;
use stash_domain::json::Object;
use stash_domain::trace;
use uuid::Uuid;

/// Rows of a piece.
pub(crate) const ROWS_MAX: i64 = 1000;

/// Bytes of text of a piece.
pub(crate) const BYTES_MAX: i64 = 4 * 1024 * 1024;

/// A step and the trace it belongs to, by its place among those asked for.
#[derive(FromRow)]
struct StepRow {
    ordinal: i64,
    #[sqlx(flatten)]
    step: Step,
}

/// Reads the first steps of some traces, one trace after the other.
pub(crate) struct Steps {
    owner: OwnerId,
    traces: Vec<Uuid>,
    /// How many steps of each.
    counts: Vec<i32>,
    /// Place among `traces` of the one being read.
    at: usize,
    next_index: i32,
    /// Steps still to come.
    left: i64,
}

impl Steps {
    /// Reads so many steps of each of these traces, from the first on.
    pub(crate) fn of(owner: OwnerId, traces: impl IntoIterator<Item = (Uuid, i32)>) -> Self {
        let (traces, counts): (Vec<Uuid>, Vec<i32>) = traces.into_iter().unzip();
        let left = counts.iter().map(|count| i64::from(*count)).sum();
        Self { owner, traces, counts, at: 0, next_index: 0, left }
    }

    /// The next steps, each with the place of its trace; empty at the end.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) async fn next(&mut self, connection: &mut PgConnection) -> Result<Vec<(usize, Step)>, BodyError> {
        if self.left <= 0 {
            return Ok(Vec::new());
        }
        let rows: Vec<StepRow> = sqlx::query_as(include_str!("content/steps.sql"))
            .bind(self.owner.0)
            .bind(&self.traces[self.at..])
            .bind(&self.counts[self.at..])
            .bind(self.next_index)
            .bind(ROWS_MAX)
            .bind(BYTES_MAX)
            .fetch_all(connection)
            .await?;
        let start = self.at;
        let place = |row: &StepRow| start + usize::try_from(row.ordinal - 1).unwrap_or(0);
        match rows.last() {
            None => self.left = 0,
            Some(last) => {
                self.left -= i64::try_from(rows.len()).unwrap_or(i64::MAX);
                self.at = place(last);
                self.next_index = last.step.index.saturating_add(1);
            }
        }
        Ok(rows.into_iter().map(|row| (place(&row), row.step)).collect())
    }
}

/// A span and its number in the trace; and where its input and output are to be made, what of.
#[derive(FromRow)]
struct SpanRow {
    idx: i32,
    #[sqlx(flatten)]
    span: Span,
    said_bytes: Option<i32>,
    subject_id: Option<Uuid>,
    frame: Option<i32>,
    place: Option<i32>,
}

/// Where a span stands in its trace: its number, then its times and its id.
struct Place {
    idx: i32,
    start_ns: String,
    end_ns: String,
    id: String,
}

/// Reads the spans of a trace.
pub(crate) struct Spans {
    owner: OwnerId,
    trace: Uuid,
    after: Place,
    /// Spans still to come.
    left: i64,
}

impl Spans {
    /// From the first; `count` is how many the trace has.
    pub(crate) fn of(owner: OwnerId, trace: Uuid, count: i32) -> Self {
        // No span has a number below 0.
        let after = Place { idx: -1, start_ns: "0".to_owned(), end_ns: "0".to_owned(), id: String::new() };
        Self { owner, trace, after, left: i64::from(count) }
    }

    /// The next spans; empty at the end.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) async fn next(&mut self, connection: &mut PgConnection) -> Result<Vec<Span>, BodyError> {
        if self.left <= 0 {
            return Ok(Vec::new());
        }
        let mut rows: Vec<SpanRow> = sqlx::query_as(include_str!("content/spans.sql"))
            .bind(self.owner.0)
            .bind(self.trace)
            .bind(self.after.idx)
            .bind(&self.after.start_ns)
            .bind(&self.after.end_ns)
            .bind(&self.after.id)
            .bind(ROWS_MAX)
            .bind(BYTES_MAX)
            .fetch_all(&mut *connection)
            .await?;
        said::fill(connection, self.owner, self.trace, &mut rows).await?;
        match rows.last() {
            None => self.left = 0,
            Some(SpanRow { idx, span, .. }) => {
                self.left -= i64::try_from(rows.len()).unwrap_or(i64::MAX);
                let (start_ns, end_ns) = (span.start_ns.clone(), span.end_ns.clone());
                self.after = Place { idx: *idx, start_ns, end_ns, id: span.id.clone() };
            }
        }
        Ok(rows.into_iter().map(|row| row.span).collect())
    }

    /// Writes them all as a JSON array.
    ///
    /// # Errors
    /// Those of the database and of the answer.
    pub(crate) async fn write(mut self, connection: &mut PgConnection, writer: &mut Writer) -> Result<(), BodyError> {
        let mut first = true;
        writer.raw("[");
        loop {
            let piece = self.next(connection).await?;
            if piece.is_empty() {
                break;
            }
            for span in &piece {
                writer.item(&mut first, span)?;
                writer.pause().await?;
            }
        }
        writer.raw("]");
        Ok(())
    }
}

/// A step as the domain knows it, for rendering and exports.
///
/// # Errors
/// [`BodyError::Damaged`] when the row holds what no projector writes.
pub(crate) fn domain_step(step: Step) -> Result<trace::Step, BodyError> {
    Ok(trace::Step {
        role: step.role.parse().map_err(|error: trace::UnknownRole| BodyError::Damaged(error.to_string()))?,
        content: step.content,
        tool_name: step.tool_name,
        tool_input: step.tool_input.map(|text| object(&text)).transpose()?,
        tool_call_id: step.tool_call_id,
        metadata: step.metadata.map(|text| object(&text)).transpose()?,
    })
}

/// A span as the domain knows it.
///
/// # Errors
/// As [`domain_step`].
pub(crate) fn domain_span(span: Span) -> Result<trace::Span, BodyError> {
    let damaged = |what: &str| BodyError::Damaged(format!("a span has a bad {what}"));
    let nanoseconds = |text: &str| text.parse().map_err(|_| damaged("time"));
    let indices = span.step_indices.iter().map(|index| u32::try_from(*index).map_err(|_| damaged("step index")));
    Ok(trace::Span {
        start_ns: nanoseconds(&span.start_ns)?,
        end_ns: nanoseconds(&span.end_ns)?,
        step_indices: indices.collect::<Result<_, _>>()?,
        id: span.id,
        parent_id: span.parent_id,
        name: span.name,
        kind: span.kind,
        input: span.input,
        output: span.output,
    })
}

/// A JSON object.
///
/// # Errors
/// As [`domain_step`].
pub(crate) fn object(text: &JsonText) -> Result<Object, BodyError> {
    Ok(serde_json::from_str(text.get())?)
}
