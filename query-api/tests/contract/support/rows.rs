//! Rows as the projector would write them.

use super::{NOW, World};
use stash_domain::ids::{OwnerId, derive};
use stash_domain::rendering::Digester;
use stash_domain::trace::{Role, Step};
use uuid::Uuid;

/// A trace to put in.
#[derive(Clone)]
pub(crate) struct NewTrace {
    pub(crate) id: Uuid,
    pub(crate) external_id: Option<String>,
    pub(crate) title: String,
    pub(crate) title_source: &'static str,
    pub(crate) format: &'static str,
    pub(crate) metadata: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) spans: Vec<NewSpan>,
    pub(crate) created_at: i64,
}

/// A span to put in.
#[derive(Clone, Default)]
pub(crate) struct NewSpan {
    pub(crate) id: &'static str,
    pub(crate) parent_id: Option<&'static str>,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) input: Option<&'static str>,
    pub(crate) step_indices: Vec<i32>,
}

impl Default for NewTrace {
    fn default() -> Self {
        Self {
            id: Uuid::now_v7(),
            external_id: None,
            title: "Refund".to_owned(),
            title_source: "derived",
            format: "stash",
            metadata: "{}".to_owned(),
            steps: vec![user("hello"), assistant("hi")],
            spans: Vec::new(),
            created_at: NOW,
        }
    }
}

impl NewTrace {
    /// The id of one of its steps.
    pub(crate) fn step_id(&self, index: usize) -> Uuid {
        derive("test-step", &[self.id.as_bytes(), &index.to_be_bytes()])
    }
}

pub(crate) fn step(role: Role, content: &str) -> Step {
    Step { role, content: content.to_owned(), tool_name: None, tool_input: None, tool_call_id: None, metadata: None }
}

pub(crate) fn user(content: &str) -> Step {
    step(Role::User, content)
}

pub(crate) fn assistant(content: &str) -> Step {
    step(Role::Assistant, content)
}

pub(crate) fn call(tool: &str, input: &str) -> Step {
    Step {
        tool_name: Some(tool.to_owned()),
        tool_input: Some(serde_json::from_str(input).unwrap()),
        tool_call_id: Some("call_1".to_owned()),
        ..assistant("")
    }
}

/// An annotation to put in.
#[derive(Clone)]
pub(crate) struct NewAnnotation {
    pub(crate) id: Uuid,
    pub(crate) trace_id: Uuid,
    pub(crate) step_id: Option<Uuid>,
    pub(crate) rating: Option<i16>,
    pub(crate) comment: Option<&'static str>,
    pub(crate) quote: Option<&'static str>,
    pub(crate) label_error: bool,
    pub(crate) created_at: i64,
}

impl NewAnnotation {
    pub(crate) fn on(trace: &NewTrace) -> Self {
        Self {
            id: Uuid::now_v7(),
            trace_id: trace.id,
            step_id: None,
            rating: None,
            comment: None,
            quote: None,
            label_error: false,
            created_at: NOW,
        }
    }

    pub(crate) fn on_step(trace: &NewTrace, index: usize) -> Self {
        Self { step_id: Some(trace.step_id(index)), ..Self::on(trace) }
    }

    pub(crate) fn rated(self, rating: i16) -> Self {
        Self { rating: Some(rating), ..self }
    }
}

impl World {
    /// Puts a trace of the test's owner in.
    pub(crate) async fn put(&self, trace: &NewTrace) {
        self.put_as(self.owner, trace).await;
    }

    /// Puts a trace of somebody in.
    pub(crate) async fn put_as(&self, owner: OwnerId, trace: &NewTrace) {
        let mut digester = Digester::new();
        for (index, step) in trace.steps.iter().enumerate() {
            let action = digester.step(step).map(|digest| digest.0.to_vec());
            let input = step.tool_input.as_ref().map(|input| serde_json::to_string(input).unwrap());
            let metadata = step.metadata.as_ref().map(|metadata| serde_json::to_string(metadata).unwrap());
            sqlx::query(
                "INSERT INTO rm_steps (owner_id, trace_id, idx, step_id, role, content, tool_name, tool_input, tool_call_id,
                 metadata, action_digest) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            )
            .bind(owner.0)
            .bind(trace.id)
            .bind(i32::try_from(index).unwrap())
            .bind(trace.step_id(index))
            .bind(step.role.name())
            .bind(&step.content)
            .bind(&step.tool_name)
            .bind(input)
            .bind(&step.tool_call_id)
            .bind(metadata)
            .bind(action)
            .execute(self.rows())
            .await
            .unwrap();
        }
        for (index, span) in trace.spans.iter().enumerate() {
            sqlx::query(
                "INSERT INTO rm_spans (owner_id, trace_id, idx, span_id, parent_id, name, kind, start_ns, end_ns, input,
                 output, step_indices) VALUES ($1, $2, $3, $4, $5, 'work', NULL, $6::numeric, $7::numeric, $8, NULL, $9)",
            )
            .bind(owner.0)
            .bind(trace.id)
            .bind(i32::try_from(index).unwrap())
            .bind(span.id)
            .bind(span.parent_id)
            .bind(span.start_ns.to_string())
            .bind(span.end_ns.to_string())
            .bind(span.input)
            .bind(&span.step_indices)
            .execute(self.rows())
            .await
            .unwrap();
        }
        let actions = trace.steps.iter().filter(|step| step.action_type().is_some()).count();
        sqlx::query(
            "INSERT INTO rm_traces (owner_id, trace_id, subject_id, external_id, title, title_source, source_format, metadata,
             step_count, action_count, span_count, trace_digest, created_at, updated_at)
             VALUES ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)",
        )
        .bind(owner.0)
        .bind(trace.id)
        .bind(&trace.external_id)
        .bind(&trace.title)
        .bind(trace.title_source)
        .bind(trace.format)
        .bind(&trace.metadata)
        .bind(i32::try_from(trace.steps.len()).unwrap())
        .bind(i32::try_from(actions).unwrap())
        .bind(i32::try_from(trace.spans.len()).unwrap())
        .bind(digester.current().0.to_vec())
        .bind(trace.created_at)
        .execute(self.rows())
        .await
        .unwrap();
    }

    /// Puts an annotation in, written by the test's owner.
    pub(crate) async fn annotate(&self, annotation: &NewAnnotation) {
        self.annotate_as(self.owner, self.owner.0, annotation).await;
    }

    /// Puts an annotation in.
    pub(crate) async fn annotate_as(&self, owner: OwnerId, author: Uuid, annotation: &NewAnnotation) {
        sqlx::query(
            "INSERT INTO rm_annotations (owner_id, annotation_id, trace_id, step_id, subject_id, rating, comment, quote,
             label_error, label_error_note, redacted, author_id, author_name, created_at, updated_at, version)
             VALUES ($1, $2, $3, $4, $3, $5, $6, $7, $8, CASE WHEN $8 THEN 'wrong' END, false, $9, 'Ada', $10, $10, 3)",
        )
        .bind(owner.0)
        .bind(annotation.id)
        .bind(annotation.trace_id)
        .bind(annotation.step_id)
        .bind(annotation.rating)
        .bind(annotation.comment)
        .bind(annotation.quote)
        .bind(annotation.label_error)
        .bind(author)
        .bind(annotation.created_at)
        .execute(self.rows())
        .await
        .unwrap();
    }

    /// Puts a job in; gives its id.
    pub(crate) async fn job(&self, owner: OwnerId, state: &str, error: Option<&str>) -> Uuid {
        let id = Uuid::now_v7();
        let (begun, over) = (state != "queued", !matches!(state, "queued" | "running"));
        sqlx::query(
            "INSERT INTO rm_jobs (owner_id, job_id, kind, compute, state, attempt, phase, fraction, error_code, error,
             cancel_requested, created_at, started_at, updated_at, finished_at, version)
             VALUES ($1, $2, 'train', 'local', $3, 1, 'training', 0.5, NULL, $4, false, $5, $6, $5, $7, 4)",
        )
        .bind(owner.0)
        .bind(id)
        .bind(state)
        .bind(error)
        .bind(NOW)
        .bind(begun.then_some(NOW + 1_000_000))
        .bind(over.then_some(NOW + 2_000_000))
        .execute(self.rows())
        .await
        .unwrap();
        id
    }

    /// Puts a reward model in whose job is in this state; gives its id.
    pub(crate) async fn model(&self, owner: OwnerId, name: &str, state: &str, traces: &[Uuid]) -> Uuid {
        let id = Uuid::now_v7();
        let job = self.job(owner, state, (state == "failed").then_some("too few pairs")).await;
        let trained = state == "succeeded";
        sqlx::query(
            "INSERT INTO rm_reward_models (owner_id, reward_model_id, job_id, name, base_model, compute, epochs, max_pairs, seed,
             trace_count, num_pairs, metrics, artifact_key, artifact_digest, trained_on_erased, created_at)
             VALUES ($1, $2, $3, $4, 'Qwen/Qwen3-0.6B', 'local', 1, 4000, 0, $5, $6, $7, $8, NULL, false, $9)",
        )
        .bind(owner.0)
        .bind(id)
        .bind(job)
        .bind(name)
        .bind(i64::try_from(traces.len()).unwrap())
        .bind(trained.then_some(12_i64))
        .bind(trained.then_some(r#"{"train_pairs": 10, "eval_accuracy": 1.0}"#))
        .bind(trained.then(|| format!("reward-models/{owner}/{id}.tar.gz")))
        .bind(NOW)
        .execute(self.rows())
        .await
        .unwrap();
        for (ordinal, trace) in traces.iter().enumerate() {
            sqlx::query(
                "INSERT INTO rm_reward_model_traces (owner_id, reward_model_id, ordinal, trace_id) VALUES ($1, $2, $3, $4)",
            )
            .bind(owner.0)
            .bind(id)
            .bind(i32::try_from(ordinal).unwrap())
            .bind(trace)
            .execute(self.rows())
            .await
            .unwrap();
        }
        id
    }

    /// Puts a score of a trace in, of its text as it stands or of an older one.
    pub(crate) async fn score(&self, trace: &NewTrace, model: Uuid, score: f64, stands: bool, created_at: i64) {
        let mut digester = Digester::new();
        for step in &trace.steps {
            digester.step(step);
        }
        let digest = if stands { digester.current().0.to_vec() } else { vec![0; 32] };
        sqlx::query(
            "INSERT INTO rm_trace_scores (owner_id, reward_model_id, trace_id, score, trace_digest, dropped_tokens, created_at)
             VALUES ($1, $2, $3, $4, $5, 0, $6)",
        )
        .bind(self.owner.0)
        .bind(model)
        .bind(trace.id)
        .bind(score)
        .bind(digest)
        .bind(created_at)
        .execute(self.rows())
        .await
        .unwrap();
    }

    /// Puts a score of an action in, of its text as it stands or of an older one.
    pub(crate) async fn action_score(&self, trace: &NewTrace, index: usize, model: Uuid, credit: f64, stands: bool) {
        let mut digester = Digester::new();
        let digests: Vec<_> = trace.steps.iter().map(|step| digester.step(step)).collect();
        let digest = if stands { digests[index].unwrap().0.to_vec() } else { vec![0; 32] };
        sqlx::query(
            "INSERT INTO rm_action_scores (owner_id, reward_model_id, trace_id, step_id, score, credit, action_digest,
             dropped_tokens, target_cut, created_at) VALUES ($1, $2, $3, $4, 1.5, $5, $6, 7, false, $7)",
        )
        .bind(self.owner.0)
        .bind(model)
        .bind(trace.id)
        .bind(trace.step_id(index))
        .bind(credit)
        .bind(digest)
        .bind(NOW)
        .execute(self.rows())
        .await
        .unwrap();
    }

    /// Puts a scoring run in; gives its id.
    pub(crate) async fn run(&self, trace: Uuid, model: Uuid, state: &str, created_at: i64) -> Uuid {
        let id = Uuid::now_v7();
        let job = self.job(self.owner, state, (state == "parked").then_some("no worker")).await;
        sqlx::query(
            "INSERT INTO rm_scoring_runs (owner_id, run_id, job_id, trace_id, reward_model_id, created_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.owner.0)
        .bind(id)
        .bind(job)
        .bind(trace)
        .bind(model)
        .bind(created_at)
        .execute(self.rows())
        .await
        .unwrap();
        id
    }
}
