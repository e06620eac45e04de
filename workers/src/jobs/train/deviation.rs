//! How far the arithmetic that a model is scored in is from fp32, measured on texts of its own training.

use super::dataset::Dataset;
use super::evaluate::{Scores, score};
use crate::jobs::engine::{blocking, open};
use crate::jobs::{Failure, Running};
use crate::scoring::{OrtOptions, Precision, TextScorer};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Texts that are scored in both. In fp32 that is a minute at most on two cores, for a model of 0.6 billion parameters; the
/// weights are held twice meanwhile.
const TEXTS_MAX: usize = 16;

/// Its file in a checkpoint.
const FILE: &str = "score_precision.json";

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Deviation {
    /// The arithmetic.
    pub(super) precision: Precision,
    /// Texts that were scored in both.
    pub(super) texts: usize,
    /// Largest difference of a score from that in fp32.
    pub(super) largest: f64,
    /// The same as a share of the standard deviation of all training scores; none where those do not differ.
    pub(super) of_std: Option<f64>,
}

/// Compares scores with those in fp32 of the same texts, in the same order; none without texts.
fn of(precision: Precision, found: &[f64], reference: &[f64], std: f64) -> Option<Deviation> {
    let largest = found.iter().zip(reference).map(|(found, reference)| (found - reference).abs()).reduce(f64::max)?;
    let of_std = (std > 0.0).then(|| largest / std);
    Some(Deviation { precision, texts: found.len().min(reference.len()), largest, of_std })
}

/// Measures it and writes it into the checkpoint; none when it is scored in fp32 itself.
pub(super) async fn measure(
    running: &Running,
    scorer: &Arc<TextScorer>,
    dataset: &Dataset,
    scores: &Scores,
    std: f64,
    checkpoint: &Path,
) -> Result<Option<Deviation>, Failure> {
    let precision = scorer.scorer().precision();
    if precision == Precision::Fp32 {
        return Ok(None);
    }
    let mut sample: Vec<usize> = scores.keys().copied().collect();
    sample.sort_unstable();
    let every = sample.len().div_ceil(TEXTS_MAX).max(1);
    let sample: Vec<usize> = sample.into_iter().step_by(every).collect();
    let (folder, threads) = (checkpoint.to_owned(), Some(running.worker.threads));
    let options = OrtOptions { threads, precision: Some(Precision::Fp32) };
    let reference = blocking(move || open(&folder, options)).await?;
    let reference = score(running, &reference, dataset, &sample).await?;
    let of_sample =
        |scores: &Scores| -> Vec<f64> { sample.iter().filter_map(|index| scores.get(index)).copied().collect() };
    let Some(deviation) = of(precision, &of_sample(scores), &of_sample(&reference), std) else { return Ok(None) };
    let text = serde_json::to_vec_pretty(&deviation).map_err(Failure::internal)?;
    std::fs::write(checkpoint.join(FILE), text).map_err(Failure::may_pass)?;
    Ok(Some(deviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_difference_is_told_by_itself_and_against_the_spread() {
        let found = of(Precision::Bf16, &[1.0, 2.5, -1.0], &[1.0, 2.0, -0.75], 2.0);
        let expected = Deviation { precision: Precision::Bf16, texts: 3, largest: 0.5, of_std: Some(0.25) };
        assert_eq!(found, Some(expected));
        assert_eq!(of(Precision::Bf16, &[1.0], &[1.5], 0.0).and_then(|found| found.of_std), None);
        assert_eq!(of(Precision::Bf16, &[], &[], 1.0), None);
    }
}
