//! `POST /traces/{trace_id}/annotations`

use super::{rule_problem, without_nul};
use crate::CommandState;
use crate::dispatch::{Accepted, Command, Refused};
use crate::path::TracePath;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::annotation::{self, AnnotationText, Rules, StepView};
use stash_domain::commands::annotations::create;
use stash_domain::error::Code;
use stash_domain::ids::StepId;
use stash_infra::http::{At, ETag, Idempotency, JsonBody, Problem};
use stash_infra::identity::Caller;
use stash_query_api::types::{Annotation, Moment, Quote};
use utoipa::ToSchema;
use uuid::Uuid;

/// Body of a new annotation: a rating, a comment, or both.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct AnnotationBody {
    /// The step; absent or null for the whole trace.
    #[serde(default)]
    pub step_id: Option<Uuid>,
    /// 1 or -1.
    #[serde(default)]
    #[schema(minimum = -1, maximum = 1)]
    pub rating: Option<i64>,
    /// The comment.
    #[serde(default)]
    pub comment: Option<String>,
    /// Part of the step's content that the comment is about; needs `step_id`.
    #[serde(default)]
    pub quote: Option<Quote>,
}

/// Rates or comments on a trace or one of its steps.
#[utoipa::path(post, operation_id = "create_annotation", path = "/traces/{trace_id}/annotations", tag = "annotations",
    request_body = AnnotationBody,
    params(("trace_id" = String, Path, description = "its id, or `external:` and its external id")),
    responses((status = 201, description = "written", body = Annotation), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    path: TracePath,
    body: JsonBody<AnnotationBody>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(&body.bytes)).await?;
    if let Some(judged) = &command.earlier {
        let done = state.repeat(&caller, judged)?;
        return repeat(&state, &caller, &command, done).await;
    }
    let mut body = body.value;
    body.comment = body.comment.map(without_nul);
    let step_id = body.step_id.map(StepId);
    let target = state.annotation_target(&caller, &path, step_id, body.quote.is_some()).await?;
    let text = AnnotationText {
        comment: body.comment.clone(),
        quote: body.quote.clone().map(quote_of),
        label_error_note: None,
        author_name: Some(caller.name.clone()),
    };
    let step = target.step.as_ref().map(|(role, content)| StepView { role: *role, content });
    let rules = Rules { step, rating: body.rating, label_error: false, text: &text };
    let rating = rules.check().map_err(rule_problem)?;
    let checked = create::Checked {
        trace_id: target.trace_id,
        step_id,
        rating,
        author_id: caller.owner_id,
        subject_id: target.subject_id,
        text: Some(state.seal_text(caller.owner_id, target.subject_id, &text).await?),
    };
    let done = state.submit(&caller, &command, create::decide(command.id, checked)).await?;
    // What a read would say now: the event is the whole state, so no read is needed to say it.
    let annotation = Annotation {
        id: create::id(command.id).0,
        trace_id: target.trace_id.0,
        step_id: body.step_id,
        rating: rating.and_then(|rating| i16::try_from(rating).ok()),
        comment: body.comment,
        quote: body.quote,
        label_error: false,
        label_error_note: None,
        author_id: caller.owner_id.0,
        author_name: text.author_name,
        source: None,
        created_at: Moment(command.at.0),
        updated_at: Moment(command.at.0),
        version: 1,
    };
    Ok((StatusCode::CREATED, At(done.position), ETag(1), axum::Json(annotation)).into_response())
}

/// The answer to a repeat: what the first request made, as it is now.
async fn repeat(state: &CommandState, caller: &Caller, command: &Command, done: Accepted) -> Result<Response, Refused> {
    let mut tx = state.read(caller).await?;
    let found = stash_query_api::load::annotation(&mut tx, caller.owner_id, create::id(command.id)).await?;
    let annotation =
        found.ok_or_else(|| Problem::new(Code::NotFound, "the annotation was written and has been deleted since"))?;
    let etag = ETag(annotation.version.cast_unsigned());
    Ok((StatusCode::CREATED, At(done.position), etag, axum::Json(annotation)).into_response())
}

fn quote_of(quote: Quote) -> annotation::Quote {
    annotation::Quote { text: quote.text, prefix: quote.prefix, suffix: quote.suffix }
}
