//! Scoring one trace with a trained model: no labels, no training, one inference, and none at all when every text has its score.

mod known;

pub use known::Known;

use super::{Done, Failure, Running, engine, scores, subjects, train};
use crate::scoring::Precision;
use stash_domain::error::Code;
use stash_domain::events::ScoresRecorded;
use stash_domain::ids::{Digest, RewardModelId, ScoringRunId, TraceId};
use stash_domain::record::{Append, Expected, StreamId};
use stash_domain::rendering::Form;
use stash_domain::reward::credit::Statistics;
use stash_domain::reward::frame::ScoresFrame;
use stash_infra::artifacts::ArtifactKey;
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;
use stash_model::manifest::Manifest;
use std::path::Path;
use uuid::Uuid;

#[derive(sqlx::FromRow)]
struct Inputs {
    trace_id: Uuid,
    trace_digest: Option<Vec<u8>>,
    artifact_key: Option<String>,
    artifact_digest: Option<String>,
    action_mean: Option<f64>,
    action_std: Option<f64>,
}

/// Does the job.
///
/// # Errors
/// [`Failure`]; `steps_replaced` when the trace changed meanwhile.
pub async fn run(running: &Running) -> Result<Done, Failure> {
    let (model_id, run_id) = running
        .job
        .reward_model
        .zip(running.job.run)
        .ok_or_else(|| Failure::internal("a scoring without a model or a run"))?;
    let inputs = load(running, run_id).await?;
    let trace_id = TraceId(inputs.trace_id);
    let statistics = inputs
        .action_mean
        .zip(inputs.action_std)
        .map(|(mean, std)| Statistics { mean, std, count: 0 })
        .ok_or_else(|| Failure::of_input(Code::IncompatibleModel, "the model cannot score actions"))?;
    let known = known::load(running, model_id, trace_id).await?;
    let (frame, precision) = match scores::of_known(running, trace_id, statistics, &known).await? {
        Some(frame) => (frame, None),
        None => infer(running, &inputs, trace_id, statistics, &known).await?,
    };
    publish(running, (model_id, run_id), &inputs, frame, precision).await
}

/// Scores with the saved checkpoint, and says in which arithmetic.
async fn infer(
    running: &Running,
    inputs: &Inputs,
    trace_id: TraceId,
    statistics: Statistics,
    known: &Known,
) -> Result<(ScoresFrame, Option<Precision>), Failure> {
    let worker = &running.worker;
    let folder = worker.scratch.join(format!("{}-{}", running.job.job, running.job.attempt));
    train::job_dir::make(&folder).map_err(Failure::may_pass)?;
    let _clean = train::job_dir::Cleaned::new(folder.clone());
    fetch(running, inputs, &folder).await?;
    running.check()?;
    let (checkpoint, options) = (folder.join("model"), worker.scoring());
    let form = match Manifest::read(&checkpoint).map_err(Failure::internal)?.form {
        stash_model::tokenize::Form::Chatml => Form::ChatMl,
        stash_model::tokenize::Form::Plain => Form::Plain,
    };
    let scorer = engine::blocking(move || engine::open(&checkpoint, options)).await?;
    let precision = scorer.scorer().precision();
    let frame = scores::of_trace(running, &scorer, form, trace_id, Some(statistics), known)
        .await?
        .ok_or_else(|| Failure::of_input(Code::StepsReplaced, "the trace was deleted meanwhile"))?;
    Ok((frame, Some(precision)))
}

async fn load(running: &Running, run: ScoringRunId) -> Result<Inputs, Failure> {
    let found: Option<Inputs> = sqlx::query_as(include_str!("inputs.sql"))
        .bind(running.job.owner.0)
        .bind(run.0)
        .fetch_optional(&running.worker.pool)
        .await?;
    found.ok_or_else(|| Failure::of_input(Code::StepsReplaced, "the trace or the model was deleted meanwhile"))
}

/// Fetches and unpacks the checkpoint, checked against the digest in the log.
async fn fetch(running: &Running, inputs: &Inputs, folder: &Path) -> Result<(), Failure> {
    let key =
        inputs.artifact_key.as_deref().ok_or_else(|| Failure::internal("a trained model without a checkpoint"))?;
    let key: ArtifactKey = key.parse().map_err(Failure::internal)?;
    let digest: Option<Digest> = inputs.artifact_digest.as_deref().and_then(|digest| digest.parse().ok());
    let archive = folder.join("model.tar.gz");
    running.worker.store.get_file(&key, &archive, digest).await?;
    let folder = folder.to_owned();
    engine::blocking(move || train::unpack(&archive, &folder).map_err(Failure::internal)).await
}

async fn publish(
    running: &Running,
    (model_id, run_id): (RewardModelId, ScoringRunId),
    inputs: &Inputs,
    frame: ScoresFrame,
    precision: Option<Precision>,
) -> Result<Done, Failure> {
    let owner = running.job.owner;
    let keys = subjects::keys(&running.worker, owner, &[frame.trace_id]).await?;
    let key = keys
        .get(&frame.trace_id)
        .ok_or_else(|| Failure::of_input(Code::StepsReplaced, "the trace was deleted meanwhile"))?;
    let mut writer = BundleWriter::new(running.worker.store.clone(), owner, Purpose::SCORE_FRAMES);
    let actions = i64::try_from(frame.actions.len()).unwrap_or(0);
    writer.push(key, frame.encode().map_err(Failure::internal)?).await?;
    let bundle = writer.finish().await?;
    // What was scored is what the run was begun on, and what is there now. Looked at last: storing takes its time.
    let now = load(running, run_id).await?;
    if now.trace_digest != inputs.trace_digest || now.trace_digest.as_deref() != Some(frame.digest.0.as_slice()) {
        return Err(Failure::of_input(
            Code::StepsReplaced,
            "the trace's steps were replaced while they were scored; score it again",
        ));
    }
    let event = ScoresRecorded {
        reward_model_id: model_id,
        run_id: Some(run_id),
        trace_count: 1,
        action_count: actions,
        bundle,
        precision: precision.map(|precision| precision.name().to_owned()),
    };
    let append = Append { stream: StreamId::ScoringRun(run_id), expected: Expected::Any, events: vec![event.into()] };
    Ok(Done { appends: vec![append] })
}
