//! One title: the question, the answer, the event.

use super::wanted::Wanted;
use crate::context::{Worker, WorkerError};
use crate::jobs::{Failure, subjects};
use stash_domain::error::Code;
use stash_domain::events::{Event, TitleFailed, TraceTitled};
use stash_domain::ids::{CommandId, derive};
use stash_domain::json::Object;
use stash_domain::llm::LlmPurpose;
use stash_domain::record::{Append, Expected, StreamId};
use stash_domain::titling::{EXCERPT_BYTES_MAX, EXCERPT_STEPS_MAX, Excerpt, TitleFrame};
use stash_domain::trace::Step;
use stash_domain::trace::title::TitleSource;
use stash_infra::llm::budget::Spent;
use stash_infra::llm::{Consenting, Llm, LlmError};
use stash_infra::seal::{self, Purpose};
use stash_infra::subject_keys::SubjectKey;
use stash_infra::titles;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The title, or why there is none, is in the log.
    Told,
    /// Nothing is to be said: the trace is gone, or its account forbade it meanwhile.
    Nothing,
    /// Something is away that has nothing to do with the trace.
    Later,
}

/// Asks for the title of a trace and records it.
pub(super) async fn write(worker: &Worker, llm: &dyn Llm, wanted: &Wanted) -> Outcome {
    match written(worker, llm, wanted).await {
        Ok(outcome) => outcome,
        Err(failure) => {
            tracing::warn!(trace = %wanted.trace, error = failure.message, "a title cannot be written now");
            Outcome::Later
        }
    }
}

async fn written(worker: &Worker, llm: &dyn Llm, wanted: &Wanted) -> Result<Outcome, Failure> {
    let keys = subjects::keys(worker, wanted.owner, &[wanted.trace]).await?;
    let Some(key) = keys.get(&wanted.trace) else { return Ok(Outcome::Nothing) };
    let Some(question) = question(worker, wanted).await? else {
        let why = "there is no text to make a title from".to_owned();
        return failed(worker, wanted, key, Code::LlmFailed, why, Spent::default()).await;
    };
    let (pool, owner) = (&worker.pool, wanted.owner);
    let llm = Consenting { llm, pool, owner, purpose: LlmPurpose::Titles };
    let (outcome, spent) = titles::title(&llm, &question).await;
    match outcome {
        Ok(title) => titled(worker, wanted, key, title, llm.model(), spent).await,
        Err(LlmError::SwitchedOff(_)) => Ok(Outcome::Nothing),
        Err(error) if is_about_the_trace(&error) => {
            failed(worker, wanted, key, Code::LlmFailed, error.to_string(), spent).await
        }
        Err(error) => Err(Failure::may_pass(error)),
    }
}

/// Whether another trace might do better: then it is this trace's title that has failed.
fn is_about_the_trace(error: &LlmError) -> bool {
    match error {
        LlmError::Malformed { .. } | LlmError::Declined { .. } => true,
        LlmError::Refused { status, .. } => matches!(status, 400 | 413 | 422),
        _ => false,
    }
}

#[derive(sqlx::FromRow)]
struct StepRow {
    role: String,
    content: String,
    tool_name: Option<String>,
    tool_input: Option<String>,
    tool_call_id: Option<String>,
    metadata: Option<String>,
}

/// What the model is asked; none for a trace without text.
async fn question(worker: &Worker, wanted: &Wanted) -> Result<Option<String>, Failure> {
    let rows: Vec<StepRow> = sqlx::query_as(include_str!("steps.sql"))
        .bind(wanted.owner.0)
        .bind(wanted.trace.0)
        .bind(i32::try_from(EXCERPT_BYTES_MAX).unwrap_or(i32::MAX))
        .bind(i64::try_from(EXCERPT_STEPS_MAX).unwrap_or(i64::MAX))
        .fetch_all(&worker.pool)
        .await?;
    let mut excerpt = Excerpt::default();
    for row in rows {
        excerpt.see(&step(row)?);
    }
    Ok(excerpt.question())
}

fn step(row: StepRow) -> Result<Step, Failure> {
    let object = |text: Option<String>| -> Option<Object> { serde_json::from_str(&text?).ok() };
    Ok(Step {
        role: row.role.parse().map_err(Failure::internal)?,
        content: row.content,
        tool_name: row.tool_name,
        tool_input: object(row.tool_input),
        tool_call_id: row.tool_call_id,
        metadata: object(row.metadata),
    })
}

async fn titled(
    worker: &Worker,
    wanted: &Wanted,
    key: &SubjectKey,
    title: String,
    model: &str,
    spent: Spent,
) -> Result<Outcome, Failure> {
    let (input_tokens, output_tokens, cost_micros) = counts(spent);
    let event = TraceTitled {
        trace_id: wanted.trace,
        title_source: TitleSource::Generated.name().to_owned(),
        subject_id: key.subject(),
        title: sealed(key, TitleFrame { title: Some(title), basis: wanted.basis })?,
        model: Some(model.to_owned()),
        input_tokens,
        output_tokens,
        cost_micros,
    };
    tell(worker, wanted, event.into()).await
}

async fn failed(
    worker: &Worker,
    wanted: &Wanted,
    key: &SubjectKey,
    code: Code,
    message: String,
    spent: Spent,
) -> Result<Outcome, Failure> {
    let (input_tokens, output_tokens, cost_micros) = counts(spent);
    let event = TitleFailed {
        trace_id: wanted.trace,
        code: code.as_str().to_owned(),
        message,
        subject_id: key.subject(),
        basis: sealed(key, TitleFrame { title: None, basis: wanted.basis })?,
        input_tokens,
        output_tokens,
        cost_micros,
    };
    tell(worker, wanted, event.into()).await
}

fn sealed(key: &SubjectKey, frame: TitleFrame) -> Result<stash_domain::sealed::Sealed, Failure> {
    let plain = frame.encode().map_err(Failure::internal)?;
    seal::seal(key, Purpose::TITLE_FRAME, &plain).map_err(Failure::internal)
}

/// Tokens read and written, and the cost where it is known.
fn counts(spent: Spent) -> (i64, i64, Option<i64>) {
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let usage = spent.usage;
    let cost = (spent.cost_is_whole && spent.calls > 0).then(|| count(spent.cost_microusd));
    (count(usage.total().saturating_sub(usage.output)), count(usage.output), cost)
}

/// Appends the event. A second one about the same trace at another moment is another command.
async fn tell(worker: &Worker, wanted: &Wanted, event: Event) -> Result<Outcome, Failure> {
    let moment = worker.now().0.to_be_bytes();
    let command = CommandId(derive("title", &[wanted.trace.0.as_bytes(), &moment]));
    let append = Append { stream: StreamId::Trace(wanted.trace), expected: Expected::Any, events: vec![event] };
    let told: Result<_, WorkerError> = worker.append(wanted.owner, command, wanted.trace.0, vec![append]).await;
    told?;
    Ok(Outcome::Told)
}
