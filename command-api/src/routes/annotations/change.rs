//! `PATCH /annotations/{annotation_id}`

use super::{rule_problem, without_nul};
use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::Id;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::annotation::{AnnotationText, Quote, Rules, StepView};
use stash_domain::commands::annotations::change::{self, Changes};
use stash_domain::error::Code;
use stash_domain::ids::AnnotationId;
use stash_infra::http::{At, ETag, Idempotency, IfMatch, JsonBody, Patch, Problem};
use stash_infra::identity::Caller;
use stash_query_api::types::Annotation;
use utoipa::ToSchema;

/// What to change; an absent field stays as it is, null clears it.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct ChangeBody {
    /// 1, -1 or null.
    #[serde(default)]
    #[schema(value_type = Option<i64>)]
    pub rating: Patch<i64>,
    /// The comment.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub comment: Patch<String>,
    /// Whether the label is wrong: it then stays visible and trains nothing.
    #[serde(default)]
    pub label_error: Option<bool>,
    /// Why it is wrong.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub label_error_note: Patch<String>,
}

/// Changes an annotation.
///
/// With `If-Match: "<version>"` the change holds only if nobody changed the annotation meanwhile (409 otherwise); without it the
/// last write stands.
#[utoipa::path(patch, operation_id = "change_annotation", path = "/annotations/{annotation_id}", tag = "annotations", request_body = ChangeBody,
    params(("annotation_id" = uuid::Uuid, Path, description = "the annotation")),
    responses((status = 200, description = "changed", body = Annotation), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    if_match: IfMatch,
    Id(annotation_id): Id<AnnotationId>,
    body: JsonBody<ChangeBody>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(&body.bytes)).await?;
    let decision = async {
        let existing = state.annotation(&caller, annotation_id).await?;
        let after = change::merge(existing.state, changes(body.value));
        // The quote was checked when it was written, and cannot be changed here.
        let kept_text = AnnotationText { quote: None::<Quote>, ..after.text.clone() };
        let step = existing.step.as_ref().map(|(role, content)| StepView { role: *role, content });
        let rules = Rules { step, rating: after.rating, label_error: after.label_error, text: &kept_text };
        let checked = change::Checked {
            annotation_id,
            trace_id: existing.trace_id,
            rating: rules.check().map_err(rule_problem)?,
            label_error: after.label_error,
            subject_id: existing.subject_id,
            text: Some(state.seal_text(caller.owner_id, existing.subject_id, &after.text).await?),
        };
        state.submit(&caller, &command, change::decide(checked, if_match.expected())).await
    };
    let position = state.decide(&caller, &command, decision).await?.position;
    let mut tx = state.read(&caller).await?;
    let found = stash_query_api::load::annotation(&mut tx, caller.owner_id, annotation_id).await?;
    let annotation = found.ok_or_else(|| Problem::new(Code::NotFound, "the annotation was deleted meanwhile"))?;
    let etag = ETag(annotation.version.cast_unsigned());
    Ok((At(position), etag, axum::Json(annotation)).into_response())
}

fn changes(body: ChangeBody) -> Changes {
    Changes {
        rating: body.rating.into_change(),
        comment: body.comment.into_change().map(|comment| comment.map(without_nul)),
        label_error: body.label_error,
        label_error_note: body.label_error_note.into_change().map(|note| note.map(without_nul)),
    }
}
