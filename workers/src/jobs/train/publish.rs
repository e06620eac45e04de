//! Everything a training made, in the events that end its job: all of it is published or none.

use super::archive;
use super::dataset::{DataPair, Dataset};
use super::evaluate::Evaluation;
use crate::jobs::engine::blocking;
use crate::jobs::scores::Scores;
use crate::jobs::{Done, Failure, Running, subjects};
use stash_domain::events::{RewardModelTrained, ScoresRecorded};
use stash_domain::ids::{RewardModelId, TraceId};
use stash_domain::learning::frame::{PairSideFrame, Side, Split};
use stash_domain::record::{Append, Expected, StreamId};
use stash_domain::sealed::Bundle;
use stash_infra::artifacts::ArtifactKey;
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;
use stash_model::manifest::Manifest;
use std::path::Path;

/// What a training made, beside the checkpoint.
pub(super) struct Made<'a> {
    /// The pairs.
    pub(super) dataset: &'a Dataset,
    /// SHA-256 of those that the trainer was given.
    pub(super) dataset_digest: String,
    /// How good it is.
    pub(super) evaluation: Evaluation,
    /// The scores of all traces.
    pub(super) scores: Scores,
}

pub(super) async fn run(
    running: &Running,
    model_id: RewardModelId,
    made: Made<'_>,
    folder: &Path,
) -> Result<Done, Failure> {
    let Made { dataset, dataset_digest, evaluation, scores } = made;
    let manifest = Manifest::read(&folder.join("model")).map_err(Failure::internal)?;
    let owner = running.job.owner;
    let key = ArtifactKey::reward_model(owner, model_id);
    let packed = folder.join("model.tar.gz");
    let (from, to) = (folder.join("model"), packed.clone());
    blocking(move || archive::pack(&from, &to).map_err(Failure::may_pass)).await?;
    let stored = running.worker.store.put_file(&key, &packed).await?;
    let pairs = seal_pairs(running, dataset).await?;
    let used = dataset.pairs.iter().filter(|pair| pair.split != Split::Excluded).count();
    let statistics = evaluation.action_statistics;
    let trained = RewardModelTrained {
        reward_model_id: model_id,
        num_pairs: i64::try_from(used).unwrap_or(i64::MAX),
        metrics: serde_json::to_string(&evaluation.metrics).map_err(Failure::internal)?,
        artifact_key: key.to_string(),
        artifact_digest: stored.digest.to_string(),
        action_mean: statistics.map(|statistics| statistics.mean),
        action_std: statistics.map(|statistics| statistics.std),
        pairs,
        dataset_digest: Some(dataset_digest),
        base_checksum: Some(manifest.base_checksum),
        code_version: Some(manifest.code_version),
    };
    let recorded = ScoresRecorded {
        reward_model_id: model_id,
        run_id: None,
        trace_count: scores.traces,
        action_count: scores.actions,
        bundle: scores.bundle,
        precision: scores.precision.map(|precision| precision.name().to_owned()),
    };
    let append = Append {
        stream: StreamId::RewardModel(model_id),
        expected: Expected::Any,
        events: vec![trained.into(), recorded.into()],
    };
    Ok(Done { appends: vec![append] })
}

/// Each side of each pair, sealed under the content key of its own trace. A side whose trace was deleted meanwhile is left out,
/// and with it, when the pairs are read, its other side.
async fn seal_pairs(running: &Running, dataset: &Dataset) -> Result<Bundle, Failure> {
    let owner = running.job.owner;
    let used = || dataset.pairs.iter().filter(|pair| pair.split != Split::Excluded);
    let mut traces: Vec<TraceId> = used()
        .flat_map(|pair| [pair.chosen, pair.rejected])
        .map(|index| dataset.targets[index].rated.key.trace_id)
        .collect();
    traces.sort_unstable();
    traces.dedup();
    let keys = subjects::keys(&running.worker, owner, &traces).await?;
    let mut writer = BundleWriter::new(running.worker.store.clone(), owner, Purpose::PAIR_FRAMES);
    for (ordinal, pair) in (0_u32..).zip(used()) {
        for side in [Side::Chosen, Side::Rejected] {
            let frame = side_frame(dataset, pair, ordinal, side)?;
            if let Some(key) = keys.get(&frame.trace_id) {
                writer.push(key, frame.encode().map_err(Failure::internal)?).await?;
            }
        }
    }
    Ok(writer.finish().await?)
}

fn side_frame(dataset: &Dataset, pair: &DataPair, ordinal: u32, side: Side) -> Result<PairSideFrame, Failure> {
    let target = &dataset.targets[match side {
        Side::Chosen => pair.chosen,
        Side::Rejected => pair.rejected,
    }];
    let place = target.text.ok_or_else(|| Failure::internal("a pair without texts"))?;
    let text = dataset.spool.get(place).map_err(Failure::may_pass)?;
    Ok(PairSideFrame {
        pair: ordinal,
        side,
        trace_id: target.rated.key.trace_id,
        step_id: target.rated.key.step_id,
        text: text.text,
        cuts: text.cuts,
        digest: target.rated.digest,
        granularity: pair.granularity,
        action_type: pair.action_type,
        source: pair.source,
        split: pair.split,
        revised: target.revision.is_some(),
        evidence: pair.evidence.clone(),
    })
}
