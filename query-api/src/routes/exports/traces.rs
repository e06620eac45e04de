//! `GET /export/traces`: all traces in the Stash Trace Format, in the order of their import.
//!
//! 1. A page names the next traces and how much there is of each.
//! 2. It is cut into groups: small traces without spans together, so that a thousand of them take few statements; any other
//!    trace by itself, so that its steps and spans are read one after the other.
//! 3. A group's heads are read at once, its steps piece by piece ([`crate::content`]), and each trace is a line.

use crate::body::{self, BodyError, Writer};
use crate::content::{ROWS_MAX, Spans, Steps, domain_span, domain_step, object};
use crate::errors::Failure;
use crate::params::Params;
use crate::state::QueryState;
use crate::types::{ExportedTrace, JsonText, Step};
use axum::extract::State;
use axum::response::Response;
use http::Uri;
use sqlx::FromRow;
use stash_domain::formats::LineWriter;
use stash_domain::ids::OwnerId;
use stash_domain::trace::TraceHead;
use stash_infra::identity::Caller;
use stash_infra::postgres::OwnerTx;
use uuid::Uuid;

/// Traces of a page.
const PAGE_MAX: i64 = 500;

/// Bytes of the heads of a group: titles and metadata.
const HEAD_BYTES_MAX: i64 = 1024 * 1024;

/// A trace of a page.
#[derive(Clone, Debug, PartialEq, FromRow)]
struct Listed {
    trace_id: Uuid,
    created_at: i64,
    step_count: i32,
    span_count: i32,
    head_bytes: i64,
}

/// What a line begins with.
#[derive(FromRow)]
struct Head {
    external_id: Option<String>,
    title: String,
    title_source: String,
    metadata: JsonText,
}

impl Head {
    fn to_domain(&self) -> Result<TraceHead, BodyError> {
        Ok(TraceHead {
            external_id: self.external_id.clone(),
            title: matches!(self.title_source.as_str(), "given" | "edited").then(|| self.title.clone()),
            metadata: object(&self.metadata)?,
        })
    }
}

/// Export traces
///
/// One trace a line in the Stash Trace Format, in the order of their import; importing it gives the same traces.
#[utoipa::path(
    get,
    operation_id = "export_traces",
    path = "/export/traces",
    tag = "export",
    responses((
        status = 200,
        description = "JSON lines",
        content_type = "application/jsonl",
        body = ExportedTrace,
    )),
)]
pub(crate) async fn traces(State(state): State<QueryState>, caller: Caller, uri: Uri) -> Result<Response, Failure> {
    Params::of(&uri)?.end()?;
    let tx = state.begin(caller.owner_id).await?;
    let work = |writer| write(writer, tx, caller.owner_id);
    Ok(body::respond(body::JSON_LINES, state.long_answers(), work).await?)
}

async fn write(mut writer: Writer, mut tx: OwnerTx, owner: OwnerId) -> Result<Writer, BodyError> {
    let (mut after, mut after_id) = (i64::MIN, Uuid::nil());
    loop {
        let page: Vec<Listed> = sqlx::query_as(include_str!("trace_page.sql"))
            .bind(owner.0)
            .bind(after)
            .bind(after_id)
            .bind(PAGE_MAX)
            .fetch_all(&mut *tx)
            .await?;
        let Some(last) = page.last() else { return Ok(writer) };
        (after, after_id) = (last.created_at, last.trace_id);
        for group in groups(&page) {
            write_group(&mut writer, &mut tx, owner, group).await?;
        }
    }
}

/// Cuts a page into groups that are read together.
fn groups(page: &[Listed]) -> Vec<&[Listed]> {
    let mut groups = Vec::new();
    let mut start = 0;
    let (mut steps, mut bytes) = (0, 0);
    for (at, trace) in page.iter().enumerate() {
        let alone = trace.span_count > 0;
        let (more_steps, more_bytes) = (steps + i64::from(trace.step_count), bytes + trace.head_bytes);
        if at > start && (alone || more_steps > ROWS_MAX || more_bytes > HEAD_BYTES_MAX) {
            groups.push(&page[start..at]);
            start = at;
            (steps, bytes) = (i64::from(trace.step_count), trace.head_bytes);
        } else {
            (steps, bytes) = (more_steps, more_bytes);
        }
        if alone {
            groups.push(&page[start..=at]);
            start = at + 1;
            (steps, bytes) = (0, 0);
        }
    }
    if start < page.len() {
        groups.push(&page[start..]);
    }
    groups
}

async fn write_group(writer: &mut Writer, tx: &mut OwnerTx, owner: OwnerId, group: &[Listed]) -> Result<(), BodyError> {
    let ids: Vec<Uuid> = group.iter().map(|trace| trace.trace_id).collect();
    let heads: Vec<Head> =
        sqlx::query_as(include_str!("trace_heads.sql")).bind(owner.0).bind(&ids).fetch_all(&mut **tx).await?;
    if heads.len() != group.len() {
        return Err(BodyError::Damaged("a page names a trace that is not there".to_owned()));
    }
    let mut steps = Steps::of(owner, group.iter().map(|trace| (trace.trace_id, trace.step_count)));
    let mut piece = Vec::new().into_iter().peekable();
    for ((at, head), trace) in heads.iter().enumerate().zip(group) {
        // The line's bytes stand in a buffer of their own, since the writer of lines must outlive the pauses between pieces.
        let mut line = LineWriter::new(Vec::new());
        line.begin(&head.to_domain()?)?;
        loop {
            if piece.peek().is_none() {
                piece = steps.next(tx).await?.into_iter().peekable();
            }
            // No more steps, or those of the next trace.
            let Some((_, step)) = piece.next_if(|(of, _): &(usize, Step)| *of == at) else { break };
            line.step(&domain_step(step)?)?;
            pass_on(&mut line, writer).await?;
        }
        let mut spans = Spans::of(owner, trace.trace_id, trace.span_count);
        loop {
            let piece = spans.next(tx).await?;
            if piece.is_empty() {
                break;
            }
            for span in piece {
                line.span(&domain_span(span)?)?;
                pass_on(&mut line, writer).await?;
            }
        }
        line.end()?;
        pass_on(&mut line, writer).await?;
    }
    Ok(())
}

/// Moves what a line holds so far into the answer.
async fn pass_on(line: &mut LineWriter<Vec<u8>>, writer: &mut Writer) -> Result<(), BodyError> {
    writer.bytes().append(line.get_mut());
    writer.pause().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(step_count: i32, span_count: i32, head_bytes: i64) -> Listed {
        Listed { trace_id: Uuid::nil(), created_at: 0, step_count, span_count, head_bytes }
    }

    fn sizes(page: &[Listed]) -> Vec<usize> {
        groups(page).iter().map(|group| group.len()).collect()
    }

    #[test]
    fn small_traces_are_read_together_and_large_ones_alone() {
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&vec![listed(10, 0, 100); 250]), [100, 100, 50]);
        assert_eq!(sizes(&[listed(1, 0, 1), listed(5000, 0, 1), listed(1, 0, 1), listed(1, 0, 1)]), [1, 1, 2]);
        assert_eq!(sizes(&[listed(1, 0, 1), listed(1, 3, 1), listed(1, 0, 1)]), [1, 1, 1]);
        assert_eq!(sizes(&[listed(1, 3, 1), listed(1, 3, 1)]), [1, 1]);
        assert_eq!(sizes(&[listed(1, 0, HEAD_BYTES_MAX), listed(1, 0, 1), listed(1, 0, 1)]), [1, 2]);
    }
}
