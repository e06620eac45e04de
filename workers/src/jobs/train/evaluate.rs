//! The figures of a checkpoint, by the engine that will serve it.

use super::dataset::Dataset;
use super::deviation::{self, Deviation};
use crate::jobs::engine::{blocking, ends_of, score_failure};
use crate::jobs::{Failure, Running};
use crate::scoring::TextScorer;
use serde::Serialize;
use stash_domain::learning::frame::{Granularity, Split};
use stash_domain::reward::calibration::{self, Calibration};
use stash_domain::reward::credit::Statistics;
use stash_domain::reward::metrics::{self, Metrics, ScoredPair, TrainingFigures};
use stash_model::tokenize::Segmented;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Texts scored in one call: bounds what is held beside the engine's own batches.
const TEXTS_AT_ONCE: usize = 64;

/// File of the statistics over both sides of all training pairs.
pub(super) const REWARD_STATISTICS: &str = "reward_stats.json";

/// File of the statistics over the training action pairs.
pub(super) const ACTION_STATISTICS: &str = "action_reward_stats.json";

/// What was found.
pub(super) struct Evaluation {
    /// The API's figures.
    pub(super) metrics: Metrics,
    /// Statistics of the training action pairs; none without any.
    pub(super) action_statistics: Option<Statistics>,
    /// How sure the model is and how right; none without held-out pairs.
    pub(super) calibration: Option<Calibration>,
    /// How far the arithmetic is from fp32; none where it is fp32.
    pub(super) deviation: Option<Deviation>,
}

#[derive(Serialize)]
struct StatisticsFile {
    mean: f64,
    std: f64,
    count: u64,
}

/// Scores the texts of all pairs and computes the figures. Writes both statistics files into the checkpoint.
pub(super) async fn run(
    running: &Running,
    scorer: &Arc<TextScorer>,
    dataset: &Dataset,
    figures: TrainingFigures,
    checkpoint: &Path,
) -> Result<Evaluation, Failure> {
    let scores = score_targets(running, scorer, dataset).await?;
    let score = |index: usize| scores.get(&index).copied();
    let mut pairs = Vec::with_capacity(dataset.pairs.len());
    for pair in &dataset.pairs {
        let (chosen, rejected) = match pair.split {
            // Counted, but neither scored nor compared.
            Split::Excluded => (0.0, 0.0),
            _ => score(pair.chosen)
                .zip(score(pair.rejected))
                .ok_or_else(|| Failure::internal("a pair without scores"))?,
        };
        pairs.push(ScoredPair {
            chosen,
            rejected,
            granularity: pair.granularity,
            action_type: pair.action_type,
            split: pair.split,
        });
    }
    let of = |keep: &dyn Fn(&ScoredPair) -> bool| {
        let texts: Vec<f64> = pairs
            .iter()
            .filter(|pair| pair.split == Split::Train && keep(pair))
            .flat_map(|pair| [pair.chosen, pair.rejected])
            .collect();
        Statistics::of(&texts)
    };
    let all = of(&|_| true).ok_or_else(|| Failure::internal("a training without training pairs"))?;
    let action_statistics = of(&|pair| pair.granularity == Granularity::Action);
    write(&checkpoint.join(REWARD_STATISTICS), &all)?;
    if let Some(statistics) = &action_statistics {
        write(&checkpoint.join(ACTION_STATISTICS), statistics)?;
    }
    let deviation = deviation::measure(running, scorer, dataset, &scores, all.std, checkpoint).await?;
    Ok(Evaluation {
        metrics: metrics::of(&pairs, action_statistics.as_ref(), figures),
        action_statistics,
        calibration: calibration::of(&pairs),
        deviation,
    })
}

fn write(path: &Path, statistics: &Statistics) -> Result<(), Failure> {
    let file = StatisticsFile { mean: statistics.mean, std: statistics.std, count: statistics.count };
    let text = serde_json::to_vec_pretty(&file).map_err(Failure::internal)?;
    std::fs::write(path, text).map_err(Failure::may_pass)
}

/// Scores by the place of their target.
pub(super) type Scores = HashMap<usize, f64>;

/// The score of each target that a pair has, once.
async fn score_targets(running: &Running, scorer: &Arc<TextScorer>, dataset: &Dataset) -> Result<Scores, Failure> {
    let with_text: Vec<usize> =
        (0..dataset.targets.len()).filter(|index| dataset.targets[*index].text.is_some()).collect();
    score(running, scorer, dataset, &with_text).await
}

/// The score of each of these targets that has a text.
pub(super) async fn score(
    running: &Running,
    scorer: &Arc<TextScorer>,
    dataset: &Dataset,
    with_text: &[usize],
) -> Result<Scores, Failure> {
    let mut scores = HashMap::with_capacity(with_text.len());
    for part in with_text.chunks(TEXTS_AT_ONCE) {
        running.check()?;
        let mut texts = Vec::with_capacity(part.len());
        for index in part {
            if let Some(place) = dataset.targets[*index].text {
                texts.push(dataset.spool.get(place).map_err(Failure::may_pass)?);
            }
        }
        let scorer = scorer.clone();
        let scored = blocking(move || {
            let cuts: Vec<Vec<u32>> = texts.iter().map(|text| ends_of(&text.cuts, text.text.len())).collect();
            let segmented: Vec<Segmented<'_>> =
                texts.iter().zip(&cuts).map(|(text, cuts)| Segmented { text: &text.text, cuts }).collect();
            scorer.score_texts(&segmented).map_err(score_failure)
        })
        .await?;
        scores.extend(part.iter().copied().zip(scored.into_iter().map(|scored| f64::from(scored.score))));
    }
    Ok(scores)
}
