//! `PATCH /traces/{trace_id}`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::TracePath;
use crate::routes::traces::import::keys_problem;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::commands::traces::edit_title;
use stash_domain::error::Code;
use stash_domain::record::Append;
use stash_domain::titling::{self, TitleFrame};
use stash_infra::http::{At, Idempotency, JsonBody, Patch, Problem};
use stash_infra::identity::Caller;
use stash_infra::seal::{self, Purpose};
use stash_query_api::types::TraceTitle;
use utoipa::ToSchema;

/// What to change.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct EditBody {
    /// A title, which then stands whatever is imported or generated; null takes it back.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub title: Patch<String>,
}

/// Gives a trace a title of your own, or takes it back.
#[utoipa::path(patch, operation_id = "edit_trace", path = "/traces/{trace_id}", tag = "traces", request_body = EditBody,
    params(("trace_id" = String, Path, description = "its id, or `external:` and its external id")),
    responses((status = 200, description = "its title now", body = TraceTitle), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    path: TracePath,
    body: JsonBody<EditBody>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(&body.bytes)).await?;
    let decision = async {
        let appends = state.edited(&caller, &path, body.value.title).await?;
        state.submit(&caller, &command, appends).await
    };
    let position = state.decide(&caller, &command, decision).await?.position;
    Ok((At(position), axum::Json(state.title_of(&caller, &path).await?)).into_response())
}

impl CommandState {
    async fn edited(&self, caller: &Caller, path: &TracePath, title: Patch<String>) -> Result<Vec<Append>, Refused> {
        let trace = self.trace(caller, path).await?;
        let wrong = |detail: String| Problem::new(Code::InvalidField, detail);
        let title = match title {
            Patch::Absent => return Err(wrong("title: a text, or null to take it back".to_owned()).into()),
            Patch::Null => None,
            Patch::Value(text) => Some(titling::edited(&text).map_err(wrong)?),
        };
        let keys = self.keys.get(caller.owner_id, &[trace.subject]).await.map_err(keys_problem)?;
        let key =
            keys.get(&trace.subject).ok_or_else(|| Problem::new(Code::NotFound, "the trace was deleted meanwhile"))?;
        let plain = TitleFrame { title, basis: None }.encode().map_err(|error| Problem::internal(&error))?;
        let sealed = seal::seal(key, Purpose::TITLE_FRAME, &plain).map_err(|error| Problem::internal(&error))?;
        Ok(edit_title::decide(trace.id, trace.subject, sealed))
    }

    /// The title of a trace, as it reads now.
    pub(super) async fn title_of(&self, caller: &Caller, path: &TracePath) -> Result<TraceTitle, Refused> {
        let mut tx = self.read(caller).await?;
        let found = stash_query_api::load::trace_title(&mut tx, caller.owner_id, path.id(caller.owner_id)).await?;
        found.ok_or_else(|| path.not_found().into())
    }
}
