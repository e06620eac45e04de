//! `POST /reward-models`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::routes::traces::import::keys_problem;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::commands::reward_models::create;
use stash_domain::ids::SubjectId;
use stash_infra::http::{At, Idempotency, JsonBody, Problem};
use stash_infra::identity::Caller;
use stash_infra::seal::{self, Purpose};
use stash_query_api::types::RewardModel;
use utoipa::ToSchema;
use uuid::Uuid;

/// Body of a request for a reward model.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct CreateBody {
    /// A name for people.
    pub name: String,
    /// The traces to learn from, at least one.
    pub trace_ids: Vec<Uuid>,
    /// Base model; default `Qwen/Qwen3-0.6B`.
    #[serde(default)]
    pub base_model: Option<String>,
    /// Passes over the pairs; default 1.
    #[serde(default)]
    pub epochs: Option<i64>,
    /// Most pairs to train on; default 4000.
    #[serde(default)]
    pub max_pairs: Option<i64>,
    /// Seed of every random choice; default 0.
    #[serde(default)]
    pub seed: Option<i64>,
    /// Peak learning rate; default: what suits the base.
    #[serde(default)]
    pub learning_rate: Option<f64>,
}

/// Trains a reward model on selected traces.
///
/// The answer comes at once, with status `queued`; pairs are made and counted by the worker.
#[utoipa::path(post, operation_id = "create_reward_model", path = "/reward-models", tag = "reward models", request_body = CreateBody,
    responses((status = 201, description = "queued", body = RewardModel), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    body: JsonBody<CreateBody>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(&body.bytes)).await?;
    let (model_id, _) = create::ids(command.id);
    let decision = async {
        let checked = create::check(input(body.value))?;
        let compute = state.compute()?;
        state.require_traces(&caller, checked.trace_ids()).await?;
        let subject = SubjectId::from(model_id);
        let keys = state.keys.ensure(caller.owner_id, &[subject]).await.map_err(keys_problem)?;
        let key = keys.first().ok_or_else(|| Problem::internal(&"no key was made"))?;
        let name =
            seal::seal(key, Purpose::MODEL_NAME, checked.name.as_bytes()).map_err(|error| Problem::internal(&error))?;
        let appends = create::decide(command.id, checked, name, compute);
        state.submit(&caller, &command, appends).await
    };
    let position = state.decide(&caller, &command, decision).await?.position;
    let mut tx = state.read(&caller).await?;
    let model = stash_query_api::load::reward_model(&mut tx, caller.owner_id, model_id).await?;
    let model = model.ok_or_else(|| Problem::internal(&"a reward model that was just made cannot be read"))?;
    Ok((StatusCode::CREATED, At(position), axum::Json(model)).into_response())
}

fn input(body: CreateBody) -> create::Input {
    create::Input {
        name: body.name,
        trace_ids: body.trace_ids.into_iter().map(Into::into).collect(),
        base_model: body.base_model,
        epochs: body.epochs,
        max_pairs: body.max_pairs,
        seed: body.seed,
        learning_rate: body.learning_rate,
    }
}
