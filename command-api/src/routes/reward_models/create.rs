//! `POST /reward-models`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::routes::traces::import::keys_problem;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::commands::reward_models::{create, training};
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
    /// How to train; default: the recipe for the base (`docs/training.md`).
    #[serde(default)]
    pub training: Option<TrainingBody>,
}

/// Choices of a training. What is left out is the recipe's.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingBody {
    /// `full`: every weight, the default. `lora`: adapters of all projections, which takes less time and much less memory.
    #[serde(default)]
    pub method: Option<String>,
    /// Rank of adapters, 1 to 1024, with `lora` only; default 16.
    #[serde(default)]
    pub lora_rank: Option<i64>,
    /// An adapter's product is multiplied by this over the rank; above 0, at most 1000000, with `lora` only; default twice the rank.
    #[serde(default)]
    pub lora_alpha: Option<f64>,
    /// Pairs of an optimizer step, 1 to 4096; default 16.
    #[serde(default)]
    pub batch_pairs: Option<i64>,
    /// `linear` and `cosine` fall to 0, `constant` stays; default `linear`.
    #[serde(default)]
    pub schedule: Option<String>,
    /// Share of the steps over which the rate rises, 0 to 1; default 0.05.
    #[serde(default)]
    pub warmup: Option<f64>,
    /// Weight decay of projections, 0 to 10; default 0.01.
    #[serde(default)]
    pub weight_decay: Option<f64>,
    /// The gradient is scaled down to this length; above 0, at most 1000000; default 1.
    #[serde(default)]
    pub clip_norm: Option<f64>,
    /// Keeps rewards around 0: coefficient of the square of the sum of a pair's rewards, 0 to 100; default 0.
    #[serde(default)]
    pub center: Option<f64>,
    /// Whether the token embedding stays as it is; default true for a large base.
    #[serde(default)]
    pub freeze_embeddings: Option<bool>,
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
        training: body.training.map(choices).unwrap_or_default(),
    }
}

fn choices(body: TrainingBody) -> training::Input {
    training::Input {
        method: body.method,
        lora_rank: body.lora_rank,
        lora_alpha: body.lora_alpha,
        batch_pairs: body.batch_pairs,
        schedule: body.schedule,
        warmup: body.warmup,
        weight_decay: body.weight_decay,
        clip_norm: body.clip_norm,
        center: body.center,
        freeze_embeddings: body.freeze_embeddings,
    }
}
