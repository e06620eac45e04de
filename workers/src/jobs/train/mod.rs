//! Training a reward model, from ratings and findings to published scores.
//!
//! 1. [`dataset`]: pairs from the ratings of the selected traces, and from what [`crate::extraction`] finds in them; texts
//!    rendered.
//! 2. [`job_dir`]: the job directory, the contract with the trainer.
//! 3. [`trainer`]: the child process; a crash or want of memory there fails one attempt and nothing else. The next attempt on
//!    the same machine goes on from the state that the trainer saved last.
//! 4. [`evaluate`]: the checkpoint is exported to ONNX, and everything that is published comes from the engine that will serve
//!    it: held-out accuracy, both statistics, the [`deviation`] from fp32. [`card`] tells them in the checkpoint.
//! 5. [`super::scores`]: every trace of the owner, and every action if the model learnt from actions.
//! 6. [`publish`]: archive, pairs and scores, in the record that also ends the job.

mod archive;
mod card;
pub mod dataset;
mod deviation;
mod evaluate;
mod found;
pub mod job_dir;
mod progress;
mod publish;
mod spool;
mod trainer;

pub use archive::unpack;

use super::{Done, Failure, Running};
use crate::bases;
use crate::extraction::{self, Extracted, Judging};
use crate::jobs::{engine, scores};
use dataset::{Explicit, Request};
use publish::Made;
use stash_domain::error::Code;
use stash_domain::ids::{Digest, RewardModelId};
use stash_domain::learning::Judged;
use stash_domain::learning::extraction::{Arranged, Dropout, Harvest};
use stash_domain::limits::JOB_ATTEMPTS_MAX;
use stash_domain::llm::LlmPurpose;
use stash_domain::rendering::Form;
use stash_infra::llm::consent;
use stash_model::checksum;
use stash_model::tokenize::TextTokenizer;
use std::path::Path;

/// What the model was asked for with.
#[derive(sqlx::FromRow)]
struct Model {
    base_model: String,
    epochs: i32,
    max_pairs: i32,
    seed: i64,
    learning_rate: Option<f64>,
    /// [`TrainingOptions`](stash_domain::events::TrainingOptions), as JSON text.
    training: String,
}

/// Does the job.
///
/// # Errors
/// [`Failure`].
pub async fn run(running: &Running) -> Result<Done, Failure> {
    let worker = &running.worker;
    let model_id = running.job.reward_model.ok_or_else(|| Failure::internal("a training without a reward model"))?;
    let model = load(running, model_id).await?;
    let folder = worker.scratch.join(format!("{}-{}", running.job.job, running.job.attempt));
    job_dir::make(&folder).map_err(Failure::may_pass)?;
    let mut clean = job_dir::Cleaned::new(folder.clone());
    // Earlier attempts are over; one whose worker was killed could not tidy up. The newest has got farthest.
    for earlier in (1..running.job.attempt).rev() {
        let earlier = worker.scratch.join(format!("{}-{earlier}", running.job.job));
        job_dir::take_over(&earlier, &folder).map_err(Failure::may_pass)?;
    }
    let result = train(running, model_id, &model, &folder).await;
    if let Err(failure) = &result {
        tracing::info!(job = %running.job.job, code = failure.code.as_str(), error = %failure, "training failed");
        let is_last = u32::try_from(running.job.attempt).unwrap_or(u32::MAX) >= JOB_ATTEMPTS_MAX;
        if running.is_stopping() || (failure.retry && !is_last) {
            clean.keep();
        }
    }
    result
}

async fn train(running: &Running, model_id: RewardModelId, model: &Model, folder: &Path) -> Result<Done, Failure> {
    let worker = &running.worker;
    running.progress("pairs", 0.0).await?;
    let request = Request {
        owner: running.job.owner,
        model: model_id,
        max_pairs: usize::try_from(model.max_pairs).unwrap_or(0),
        seed: model.seed,
    };
    let explicit = dataset::explicit(running, request).await?;
    let (extracted, judged) = match extract(running, request, &explicit).await? {
        Ok(extracted) => {
            let judged = Judged::Findings(extracted.harvest.findings().len());
            (Some(extracted), judged)
        }
        Err(why) => (None, Judged::Nothing(why)),
    };
    let findings = extracted.as_ref().map_or(&[][..], |extracted| extracted.harvest.findings());
    let arranged = Arranged::of(&explicit.traces(), findings, model.seed);
    if let Some(extracted) = &extracted {
        report(running, model_id, extracted, &arranged).await?;
    }
    let selected = dataset::select(explicit, findings, &arranged, &judged)?;
    let base = bases::find(&worker.bases, &model.base_model)
        .ok_or_else(|| bases::missing(&worker.bases, &model.base_model))?;
    let form = form_of(&base)?;
    let dataset = dataset::render(running, selected, form, folder).await?;
    let settings = job_dir::Settings {
        base: &base,
        epochs: model.epochs,
        learning_rate: model.learning_rate,
        training: serde_json::from_str(&model.training).map_err(Failure::internal)?,
        seed: model.seed,
        threads: worker.threads,
    };
    job_dir::write(folder, &settings, &dataset).map_err(Failure::may_pass)?;
    let dataset_digest = checksum::of_file(&folder.join(job_dir::PAIRS)).map_err(Failure::may_pass)?;
    let dataset_digest = Digest(dataset_digest).to_string();
    running.progress("training", 0.1).await?;
    let figures = trainer::run(running, folder).await?;
    running.progress("evaluating", 0.6).await?;
    let checkpoint = folder.join("model");
    let scorer = engine::export(&checkpoint, worker.scoring()).await?;
    let evaluation = evaluate::run(running, &scorer, &dataset, figures, &checkpoint).await?;
    card::write(&checkpoint, &model.base_model, &dataset, &dataset_digest, &evaluation)?;
    running.progress("scoring", 0.7).await?;
    let actions = evaluation.action_statistics.filter(|_| evaluation.metrics.action_scoring_version.is_some());
    let scores = scores::of_all_traces(running, &scorer, form, actions, folder).await?;
    running.progress("publishing", 0.95).await?;
    publish::run(running, model_id, Made { dataset: &dataset, dataset_digest, evaluation, scores }, folder).await
}

/// What a model that judges finds in the traces; where none is to be asked, why.
async fn extract(
    running: &Running,
    request: Request,
    explicit: &Explicit,
) -> Result<Result<Extracted, String>, Failure> {
    let judge = match &running.worker.judge {
        Judging::By(judge) => judge,
        Judging::Nobody(why) => return Ok(Err(why.clone())),
    };
    if !consent::allows(&running.worker.pool, request.owner, LlmPurpose::Learning).await? {
        let why = "this account does not allow language models to be used for learning (`stash llm allow learning`)";
        return Ok(Err(why.to_owned()));
    }
    let harvest = Harvest::new(explicit.liking.clone(), explicit.traces().len(), request.max_pairs);
    let settings = extraction::Settings { dropout: Dropout::Half, seed: request.seed };
    extraction::run(running, judge, request.model, settings, harvest).await.map(Ok)
}

/// Records what was found, before it is asked whether there are enough pairs: the report of a job that fails for want of them says
/// why. So does that of a job that fails because a call did, unless another attempt follows, which finds it again.
///
/// # Errors
/// Why extraction stopped, if it did.
async fn report(
    running: &Running,
    model: RewardModelId,
    extracted: &Extracted,
    arranged: &Arranged,
) -> Result<(), Failure> {
    let Some(failure) = &extracted.stopped else {
        return extraction::record(running, model, extracted, Some(arranged)).await;
    };
    let is_last = u32::try_from(running.job.attempt).unwrap_or(u32::MAX) >= JOB_ATTEMPTS_MAX;
    if is_last || !failure.retry {
        extraction::record(running, model, extracted, None).await?;
    }
    Err(failure.clone())
}

/// How the base sees segments.
fn form_of(base: &Path) -> Result<Form, Failure> {
    let tokenizer = TextTokenizer::open(base).map_err(|error| {
        Failure::of_input(Code::UnknownBaseModel, format!("the base model cannot be used: {error}"))
    })?;
    Ok(match tokenizer.form() {
        stash_model::tokenize::Form::Chatml => Form::ChatMl,
        stash_model::tokenize::Form::Plain => Form::Plain,
    })
}

async fn load(running: &Running, model: RewardModelId) -> Result<Model, Failure> {
    let found: Option<Model> = sqlx::query_as(include_str!("model.sql"))
        .bind(running.job.owner.0)
        .bind(model.0)
        .fetch_optional(&running.worker.pool)
        .await?;
    found.ok_or_else(|| Failure::internal(format_args!("reward model {model} has no row")))
}
