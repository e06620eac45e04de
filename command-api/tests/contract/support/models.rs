//! What a worker would say: models trained, jobs begun and ended.

use super::World;
use stash_domain::events::{Event, JobClaimed, JobCompleted, RewardModelTrained};
use stash_domain::ids::{CommandId, Digest, JobId, RewardModelId};
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::sealed::Bundle;
use stash_domain::time::Timestamp;
use stash_infra::submit::Outcome;
use uuid::Uuid;

impl World {
    /// Makes a trained model of these traces, and gives its id.
    pub(crate) async fn trained(&self, traces: &[String], scores_actions: bool) -> String {
        let body = serde_json::json!({"name": "mine", "trace_ids": traces});
        let id =
            self.post("/reward-models").json(&body).send().await.done(201).json()["id"].as_str().unwrap().to_owned();
        let model = RewardModelId(id.parse().unwrap());
        let job = self.job_of("rm_reward_models", "reward_model_id", model.0).await;
        let version = if scores_actions { "1" } else { "null" };
        let trained = RewardModelTrained {
            reward_model_id: model,
            num_pairs: 2,
            metrics: format!(r#"{{"action_scoring_version": {version}}}"#),
            artifact_key: format!("reward-models/{}/{id}.tar.gz", self.owner),
            artifact_digest: "0".repeat(64),
            action_mean: scores_actions.then_some(0.0),
            action_std: scores_actions.then_some(1.0),
            pairs: Bundle { inline: None, blobs: Vec::new(), frames: 0 },
            dataset_digest: None,
            base_checksum: None,
            code_version: None,
        };
        self.append(vec![
            append(StreamId::RewardModel(model), vec![trained.into()]),
            append(StreamId::Job(job), vec![claimed(job), JobCompleted { job_id: job, attempt: 1 }.into()]),
        ])
        .await;
        id
    }

    /// Lets a worker take a job.
    pub(crate) async fn claim(&self, job: JobId) {
        self.append(vec![append(StreamId::Job(job), vec![claimed(job)])]).await;
    }

    /// Lets the worker finish it.
    pub(crate) async fn complete(&self, job: JobId) {
        let done = JobCompleted { job_id: job, attempt: 1 }.into();
        self.append(vec![append(StreamId::Job(job), vec![done])]).await;
    }

    /// The job of a model or run.
    pub(crate) async fn job_of(&self, table: &'static str, column: &'static str, id: Uuid) -> JobId {
        let query = sqlx::AssertSqlSafe(format!("SELECT job_id FROM {table} WHERE {column} = $1"));
        JobId(sqlx::query_scalar(query).bind(id).fetch_one(&self.pools.system).await.unwrap())
    }

    async fn append(&self, appends: Vec<Append>) {
        let command_id = CommandId(Uuid::now_v7());
        let record = Record {
            command_id,
            owner_id: self.owner,
            request_digest: Digest([0; 32]),
            actor: Actor::System,
            causation_id: None,
            correlation_id: command_id.0,
            recorded_at: Timestamp(1_790_651_520_000_000),
            appends,
        };
        assert!(matches!(self.submitter.submit(&record).await.unwrap(), Outcome::Judged { .. }));
    }
}

fn append(stream: StreamId, events: Vec<Event>) -> Append {
    Append { stream, expected: Expected::Any, events }
}

fn claimed(job_id: JobId) -> Event {
    JobClaimed { job_id, attempt: 1, worker: "w".to_owned() }.into()
}
