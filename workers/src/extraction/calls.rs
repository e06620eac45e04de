//! Finished calls: events of the log, and found again in the read model that is made of them.
//!
//! A reply that was malformed is kept too, for whoever looks at it later, under a key of its job: the job itself goes on with the
//! repair after a crash, a later one asks anew.

use crate::jobs::{Failure, Running, subjects};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use stash_domain::events::JudgeAnswered;
use stash_domain::ids::{Digest, JobId, RewardModelId};
use stash_domain::learning::extraction::frame::JudgeCallFrame;
use stash_domain::learning::extraction::{Call as Question, PROMPT_VERSION};
use stash_domain::record::{Append, Expected, StreamId};
use stash_domain::sealed::Bundle;
use stash_infra::bundle::BundleWriter;
use stash_infra::llm::budget::Spent;
use stash_infra::llm::form::Form;
use stash_infra::llm::{Call, Finished, Journal, Kept, Reply, Speaker, Stop, Usage};
use stash_infra::seal::Purpose;

/// Where finished calls are kept and found.
#[async_trait]
pub(super) trait Calls: Send + Sync {
    async fn find(&self, question: &Question, digest: Digest) -> Result<Option<Kept>, String>;

    async fn keep(&self, question: &Question, finished: Finished<'_>) -> Result<(), String>;
}

/// The calls that put one question.
pub(super) struct Of<'a> {
    pub(super) calls: &'a dyn Calls,
    pub(super) question: &'a Question,
}

#[async_trait]
impl Journal for Of<'_> {
    async fn find(&self, digest: Digest) -> Result<Option<Kept>, String> {
        self.calls.find(self.question, digest).await
    }

    async fn keep(&self, finished: Finished<'_>) -> Result<(), String> {
        self.calls.keep(self.question, finished).await
    }
}

/// Calls kept in the log.
pub(super) struct LoggedCalls<'a> {
    running: &'a Running,
    reward_model: RewardModelId,
}

#[derive(sqlx::FromRow)]
struct Row {
    call_key: Vec<u8>,
    answer: String,
}

impl<'a> LoggedCalls<'a> {
    pub(super) fn new(running: &'a Running, reward_model: RewardModelId) -> Self {
        Self { running, reward_model }
    }

    /// What earlier attempts at this job took.
    pub(super) async fn spent_before(&self) -> Result<Spent, Failure> {
        let job = &self.running.job;
        let (calls, input, output, cost, unpriced): (i64, i64, i64, i64, i64) =
            sqlx::query_as(include_str!("spent_before.sql"))
                .bind(job.owner.0)
                .bind(job.job.0)
                .fetch_one(&self.running.worker.pool)
                .await?;
        Ok(Spent {
            calls: calls.unsigned_abs(),
            usage: Usage { input: input.unsigned_abs(), output: output.unsigned_abs(), ..Usage::default() },
            cost_microusd: cost.unsigned_abs(),
            cost_is_whole: unpriced == 0,
        })
    }

    /// The event of a finished call; none when its trace was deleted meanwhile, and with it everything about it.
    async fn event(&self, question: &Question, finished: Finished<'_>) -> Result<Option<JudgeAnswered>, Failure> {
        let Some(reply) = finished.replies.last() else { return Ok(None) };
        let Some(call) = self.seal(question, finished, reply).await? else { return Ok(None) };
        let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let usage = reply.usage;
        Ok(Some(JudgeAnswered {
            reward_model_id: self.reward_model,
            job_id: self.running.job.job,
            attempt: self.running.job.attempt,
            trace_id: question.trace_id,
            purpose: question.purpose.name().to_owned(),
            classifier_model: reply.model.clone(),
            input_tokens: tokens(usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_written)),
            cached_tokens: tokens(usage.cache_read),
            output_tokens: tokens(usage.output),
            cost_micros: reply.cost_microusd.map(tokens),
            call,
        }))
    }

    async fn seal(
        &self,
        question: &Question,
        finished: Finished<'_>,
        reply: &Reply,
    ) -> Result<Option<Bundle>, Failure> {
        let (worker, owner) = (&self.running.worker, self.running.job.owner);
        let keys = subjects::keys(worker, owner, &[question.trace_id]).await?;
        let Some(key) = keys.get(&question.trace_id) else { return Ok(None) };
        let (call_key, answer) = match finished.answer {
            Some(answer) => (finished.digest, answer.clone()),
            None => (
                of_job(finished.digest, self.running.job.job, finished.replies.len()),
                // The last one says how it ended: a repair that was declined is so too when it is found again.
                finished.replies.first().map_or(Value::Null, |first| json!({"reply": first.text, "stop": reply.stop})),
            ),
        };
        let frame = JudgeCallFrame {
            trace_id: question.trace_id,
            step_index: question.step_index,
            purpose: question.purpose,
            key: call_key,
            prompt_version: PROMPT_VERSION,
            question: parts(finished.call),
            model: reply.model.clone(),
            parameters: parameters(finished.call, reply),
            replies: finished.replies.iter().map(|reply| reply.text.clone()).collect(),
            answer,
        };
        let mut writer = BundleWriter::new(worker.store.clone(), owner, Purpose::JUDGE_CALL_FRAMES);
        writer.push(key, frame.encode().map_err(Failure::internal)?).await?;
        Ok(Some(writer.finish().await?))
    }
}

#[async_trait]
impl Calls for LoggedCalls<'_> {
    async fn find(&self, question: &Question, digest: Digest) -> Result<Option<Kept>, String> {
        let job = &self.running.job;
        let once = of_job(digest, job.job, 1);
        let twice = of_job(digest, job.job, 2);
        let keys: Vec<Vec<u8>> = [digest, once, twice].iter().map(|key| key.0.to_vec()).collect();
        let rows: Vec<Row> = sqlx::query_as(include_str!("find_call.sql"))
            .bind(job.owner.0)
            .bind(keys)
            .bind(question.trace_id.0)
            .fetch_all(&self.running.worker.pool)
            .await
            .map_err(|error| error.to_string())?;
        let row = |key: Digest| rows.iter().find(|row| row.call_key == key.0);
        let malformed = |row: &Row| -> Option<Reply> {
            let kept: Value = serde_json::from_str(&row.answer).ok()?;
            let stop = serde_json::from_value(kept.get("stop")?.clone()).ok()?;
            Some(reply(kept.get("reply")?.as_str()?.to_owned(), stop))
        };
        Ok(if let Some(row) = row(digest) {
            Some(Kept::Answered(reply(row.answer.clone(), Stop::End)))
        } else if let Some(row) = row(twice) {
            malformed(row).map(Kept::MalformedTwice)
        } else {
            row(once).and_then(malformed).map(Kept::Malformed)
        })
    }

    async fn keep(&self, question: &Question, finished: Finished<'_>) -> Result<(), String> {
        let Some(event) = self.event(question, finished).await.map_err(|failure| failure.message)? else {
            return Ok(());
        };
        let (job, model) = (&self.running.job, self.reward_model);
        let append =
            Append { stream: StreamId::RewardModel(model), expected: Expected::Any, events: vec![event.into()] };
        // Two traces may ask the same; and a call that was made again, since the rules have changed, is another one.
        let key =
            format!("judged/{}/{}/{}/{}", job.attempt, question.trace_id, finished.digest, finished.replies.len());
        self.running.worker.say(job.owner, job.job, &key, vec![append]).await.map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// A kept reply; what it took was counted when it was made.
fn reply(text: String, stop: Stop) -> Reply {
    Reply { text, stop, model: String::new(), usage: Usage::default(), cost_microusd: None, form: Form::Text }
}

/// What the malformed replies of one job to a question are found again by.
fn of_job(digest: Digest, job: JobId, round: usize) -> Digest {
    let mut hash = Sha256::new();
    hash.update(b"malformed");
    hash.update(digest.0);
    hash.update(job.0.as_bytes());
    hash.update((round as u64).to_be_bytes());
    Digest(hash.finalize().into())
}

/// The parts of a call as they were sent.
fn parts(call: &Call) -> Vec<String> {
    let turns = call.turns.iter().map(|turn| match turn.speaker {
        Speaker::User => turn.text.clone(),
        Speaker::Assistant => format!("(the model) {}", turn.text),
    });
    [call.instructions.clone(), call.context.clone()].into_iter().chain(turns).collect()
}

fn parameters(call: &Call, reply: &Reply) -> Map<String, Value> {
    let schema = call.answer.as_ref().map(|schema| schema.text());
    let pairs = [
        ("tokens_max", json!(call.tokens_max)),
        ("form", json!(reply.form)),
        ("stop", json!(reply.stop)),
        ("schema", json!(schema)),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
