//! Reward models, as commands see them.

use crate::CommandState;
use crate::dispatch::Refused;
use crate::routes::traces::import::keys_problem;
use stash_domain::commands::jobs::cancel;
use stash_domain::commands::scoring_runs::request::{self, View};
use stash_domain::error::Code;
use stash_domain::ids::{JobId, OwnerId, RewardModelId, ScoringRunId, SubjectId, TraceId};
use stash_domain::sealed::Sealed;
use stash_domain::time::Timestamp;
use stash_domain::views::job::JobState;
use stash_domain::views::reward_model::status_of;
use stash_infra::http::Problem;
use stash_infra::identity::Caller;
use stash_infra::postgres::OwnerTx;
use stash_infra::seal::{self, Purpose};
use uuid::Uuid;

/// The answer when the caller has no such model.
pub(crate) fn not_found(id: RewardModelId) -> Problem {
    Problem::new(Code::NotFound, format!("there is no reward model {id}"))
}

fn state_of(name: &str) -> Result<JobState, Problem> {
    JobState::of_name(name).ok_or_else(|| Problem::internal(&format_args!("rm_jobs holds the state {name:?}")))
}

/// The runs of one trace and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// How many were requested.
    pub requested: u64,
    /// One that is at work, else the newest; none if there is none.
    pub run: Option<ScoringRunId>,
    /// Whether it is at work.
    pub at_work: bool,
}

/// A model's training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Training {
    /// Its job.
    pub job: cancel::View,
    /// Compute class that it was asked for under.
    pub compute: String,
}

async fn runs(tx: &mut OwnerTx, caller: &Caller, model: RewardModelId, trace: TraceId) -> Result<Runs, sqlx::Error> {
    let (requested, run, at_work): (i64, Option<Uuid>, bool) = sqlx::query_as(include_str!("runs.sql"))
        .bind(caller.owner_id.0)
        .bind(trace.0)
        .bind(model.0)
        .bind(request::stream(trace, model).to_string())
        .fetch_one(&mut **tx)
        .await?;
    Ok(Runs { requested: requested.unsigned_abs(), run: run.map(ScoringRunId::from), at_work })
}

impl CommandState {
    /// What a scoring by this model depends on, and the runs of the same trace and model.
    ///
    /// # Errors
    /// `not_found`; those of the database.
    pub async fn scoring_view(
        &self,
        caller: &Caller,
        model: RewardModelId,
        trace: TraceId,
        action_count: i64,
    ) -> Result<(View, Runs), Refused> {
        let mut tx = self.read(caller).await?;
        let row: Option<(Option<String>, String, Option<String>)> = sqlx::query_as(include_str!("reward_model.sql"))
            .bind(caller.owner_id.0)
            .bind(model.0)
            .fetch_optional(&mut *tx)
            .await?;
        let (name, state, metrics) = row.ok_or_else(|| not_found(model))?;
        let metrics: serde_json::Value =
            metrics.and_then(|metrics| serde_json::from_str(&metrics).ok()).unwrap_or_default();
        let runs = runs(&mut tx, caller, model, trace).await?;
        let view = View {
            action_count,
            model_name: name.unwrap_or_else(|| model.to_string()),
            model_status: status_of(state_of(&state)?).to_owned(),
            scores_actions: metrics.get("action_scoring_version").is_some_and(|version| !version.is_null()),
            requested: runs.requested,
        };
        Ok((view, runs))
    }

    /// The run that an earlier request got: `own` if it began one, else the one that it joined, which was the newest `at` its time.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn scoring_run_at(
        &self,
        caller: &Caller,
        (trace, model): (TraceId, RewardModelId),
        own: ScoringRunId,
        at: Timestamp,
    ) -> Result<Option<ScoringRunId>, Refused> {
        let mut tx = self.read(caller).await?;
        let row: Option<(Uuid,)> = sqlx::query_as(include_str!("run_at.sql"))
            .bind(caller.owner_id.0)
            .bind(trace.0)
            .bind(model.0)
            .bind(own.0)
            .bind(at.0)
            .fetch_optional(&mut *tx)
            .await?;
        Ok(row.map(|(run,)| ScoringRunId::from(run)))
    }

    /// The training of a model.
    ///
    /// # Errors
    /// `not_found`; those of the database.
    pub async fn training(&self, caller: &Caller, model: RewardModelId) -> Result<Training, Refused> {
        let mut tx = self.read(caller).await?;
        let row: Option<(Uuid, String, i32, i64, String)> = sqlx::query_as(include_str!("training.sql"))
            .bind(caller.owner_id.0)
            .bind(model.0)
            .fetch_optional(&mut *tx)
            .await?;
        let (job, state, attempt, version, compute) = row.ok_or_else(|| not_found(model))?;
        let job =
            cancel::View { job_id: JobId(job), state: state_of(&state)?, attempt, version: version.cast_unsigned() };
        Ok(Training { job, compute })
    }

    /// A model's name, sealed under the model's key.
    ///
    /// # Errors
    /// `not_found` when the key is gone, and so the model; those of the keys.
    pub async fn seal_model_name(&self, owner: OwnerId, model: RewardModelId, name: &str) -> Result<Sealed, Refused> {
        let subject = SubjectId::from(model);
        let keys = self.keys.get(owner, &[subject]).await.map_err(keys_problem)?;
        let key = keys.get(&subject).ok_or_else(|| not_found(model))?;
        Ok(seal::seal(key, Purpose::MODEL_NAME, name.as_bytes()).map_err(|error| Problem::internal(&error))?)
    }

    /// Refuses traces that the caller does not own.
    ///
    /// # Errors
    /// `not_found`, naming the first one; those of the database.
    pub async fn require_traces(&self, caller: &Caller, traces: &[TraceId]) -> Result<(), Refused> {
        let mut tx = self.read(caller).await?;
        let ids: Vec<Uuid> = traces.iter().map(|id| id.0).collect();
        let missing: Option<(Uuid,)> = sqlx::query_as(include_str!("missing_traces.sql"))
            .bind(caller.owner_id.0)
            .bind(ids)
            .fetch_optional(&mut *tx)
            .await?;
        match missing {
            None => Ok(()),
            Some((id,)) => {
                let detail = format!("trace_ids: there is no trace {id}");
                Err(Problem::new(Code::NotFound, detail).with("trace_id", id.to_string()).into())
            }
        }
    }
}
