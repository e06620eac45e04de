//! `tau_airline_accuracy` and `tau_airline_accuracy_minus_trl`: how often a model trained from SmolLM2-135M-Instruct scores a
//! trajectory of an airline agent that succeeded above one of the same task that failed, beside TRL's and an untrained head.
//!
//! All begin with the same weights, head included. Tasks are split into two halves; each half is tested with a model that was
//! trained on the other, so that every pair of one task is held out once. Stash trains by its recipe for adapters, TRL at its
//! defaults; pairs, tokens, batch and passes are the same. The trained models are all scored by transformers in fp32.
//!
//! Pairs of one task share trajectories, so differences have their interval by resampling tasks, not pairs.

use super::tau::{self, Fold, Pair, Trajectory};
use super::trl::{PEER, Race, is_left_out, python};
use crate::bench::Bench;
use crate::figure::{Better, Kind, Measured};
use crate::machine;
use crate::peer;
use anyhow::{Context as _, ensure};
use serde_json::json;
use stash_domain::reward::metrics::wilson;
use stash_model::gguf;
use stash_model::rng::Rng;
use stash_model::tokenize::TextTokenizer;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) static KINDS: [Kind; 2] = [
    Kind { name: "tau_airline_accuracy", unit: "share", better: Better::Higher, target: None },
    Kind { name: "tau_airline_accuracy_minus_trl", unit: "share", better: Better::Higher, target: None },
];

/// Tokens of a text, its last.
const TOKENS: usize = 256;
/// Pairs of a training.
const TRAIN_PAIRS: usize = 64;
/// Pairs of a step: TRL's default.
const BATCH: usize = 8;
/// Passes over the pairs.
const EPOCHS: u32 = 1;
/// Seed of the head and of the order of pairs.
const SEED: u64 = 0;
/// Tries of the interval of a difference.
const RESAMPLES: usize = 10_000;

/// How much the chosen side's score is above the other's, of each held-out pair.
#[derive(Default)]
struct Margins {
    untrained: Vec<f64>,
    stash: Vec<f64>,
    trl: Vec<f64>,
}

/// Measures.
pub(super) fn run(bench: &Bench) -> anyhow::Result<Vec<Measured>> {
    let (data, weights) = (tau::file(&bench.repository), std::env::var_os("STASH_TEST_SMOLLM2"));
    let (Some(data), Some(weights)) = (data, weights) else {
        eprintln!("left out, for the trajectories are not beside this clone, or STASH_TEST_SMOLLM2 names no GGUF file");
        return Ok(Vec::new());
    };
    if is_left_out(bench) {
        return Ok(Vec::new());
    }
    let start = start(bench, Path::new(&weights))?;
    let tokens = bench.full_or_quick(TOKENS, 32);
    let trajectories = tau::read(&data, &TextTokenizer::open(&start)?, tokens)?;
    let folds = tau::folds(&trajectories, bench.full_or_quick(TRAIN_PAIRS, BATCH));
    let (mut margins, mut seconds) = (Margins::default(), [0.0; 2]);
    for (number, fold) in folds.iter().enumerate() {
        let [ours, theirs] = measure(bench, number, &start, tokens, &trajectories, fold, &mut margins)?;
        seconds = [seconds[0] + ours, seconds[1] + theirs];
    }
    let held_out: Vec<Pair> = folds.iter().flat_map(|fold| fold.held_out.clone()).collect();
    let tasks: Vec<u64> = held_out.iter().map(|(chosen, _)| trajectories[*chosen].task).collect();
    let [ours, theirs, untrained] = [&margins.stash, &margins.trl, &margins.untrained].map(|of| won(of));
    let [from_trl, from_untrained] = [&theirs, &untrained].map(|other| interval(&tasks, &ours, other));
    let said = |won: &[f64]| {
        let [low, high] = wilson(mean(won), won.len() as u64);
        format!("{:.3} ({low:.3} to {high:.3})", mean(won))
    };
    ensure!(from_trl[1] >= 0.0, "below TRL: {} against {}", said(&ours), said(&theirs));
    let trained = folds[0].train.len();
    let note = format!(
        "{} held-out pairs of {} tasks: Stash {}, {PEER} {}, untrained head {}; two trainings of {trained} pairs of {tokens} \
         tokens, {EPOCHS} pass: {:.0} s against {:.0} s",
        held_out.len(),
        tasks.iter().collect::<std::collections::BTreeSet<_>>().len(),
        said(&ours),
        said(&theirs),
        said(&untrained),
        seconds[0],
        seconds[1],
    );
    let difference = mean(&ours) - mean(&theirs);
    let paired = format!(
        "paired by task: {:.3} to {:.3}; from an untrained head {:.3}, {:.3} to {:.3}",
        from_trl[0],
        from_trl[1],
        mean(&ours) - mean(&untrained),
        from_untrained[0],
        from_untrained[1]
    );
    Ok(vec![KINDS[0].is(mean(&ours), note).beside(PEER, mean(&theirs)), KINDS[1].is(difference, paired)])
}

/// SmolLM2 with a new head, in a folder that all begin from.
fn start(bench: &Bench, weights: &Path) -> anyhow::Result<PathBuf> {
    let (base, start) = (bench.path("smollm2"), bench.path("smollm2-head"));
    fs::create_dir_all(&base)?;
    gguf::import(weights, &base, |_| {}).context("SmolLM2 cannot be read")?;
    let pad = TextTokenizer::open(&base)?.pad().id.to_string();
    classifier(bench, &["head", &text(&base)?, &text(&start)?, &pad, &SEED.to_string()])?;
    Ok(start)
}

/// Trains both on a fold and adds the margins of what is held out. Returns the seconds that each took.
fn measure(
    bench: &Bench,
    number: usize,
    start: &Path,
    tokens: usize,
    trajectories: &[Trajectory],
    fold: &Fold,
    margins: &mut Margins,
) -> anyhow::Result<[f64; 2]> {
    let name = format!("tau-{number}");
    let race = Race::over(bench, &name)?;
    std::os::unix::fs::symlink(start, race.base())?;
    race.put_pairs(&tau::texts(trajectories, &fold.train)?, &tau::ids(trajectories, &fold.train)?)?;
    let held_out = bench.path(&format!("{name}/held-out.jsonl"));
    fs::write(&held_out, tau::ids(trajectories, &fold.held_out)?)?;
    let trl_model = bench.path(&format!("{name}/trl-model"));
    let (stash, _) = race.stash(json!({
        "method": "lora", "batch_pairs": BATCH, "epochs": EPOCHS, "max_tokens": tokens, "seed": SEED,
    }))?;
    let trl = race.trl(json!({"batch": BATCH, "epochs": EPOCHS, "defaults": true, "save": trl_model}))?;
    for (model, to) in
        [(start, &mut margins.untrained), (&race.checkpoint(), &mut margins.stash), (&trl_model, &mut margins.trl)]
    {
        let threads = machine::cores().to_string();
        let said = classifier(bench, &["margins", &text(model)?, &text(&held_out)?, &threads])?;
        let found: Vec<f64> = serde_json::from_str(&said).with_context(|| format!("classifier.py printed {said:?}"))?;
        ensure!(found.len() == fold.held_out.len(), "{} margins of {} pairs", found.len(), fold.held_out.len());
        to.extend(found);
    }
    Ok([stash.train_seconds, trl.seconds])
}

fn classifier(bench: &Bench, arguments: &[&str]) -> anyhow::Result<String> {
    let program = peer::programs(&bench.repository, "hf")?.join("python");
    python(Command::new(program).arg(bench.repository.join("bench/peers/classifier.py")).args(arguments))
}

fn text(path: &Path) -> anyhow::Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("{} is no Unicode", path.display()))
}

/// 1 where the chosen side scores higher, 0 where the other does, a half for a tie.
fn won(margins: &[f64]) -> Vec<f64> {
    margins.iter().map(|margin| if *margin == 0.0 { 0.5 } else { f64::from(*margin > 0.0) }).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The 95 % interval of the difference of two accuracies on the same pairs, tasks drawn with replacement.
fn interval(tasks: &[u64], ours: &[f64], theirs: &[f64]) -> [f64; 2] {
    let mut of_task: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (task, (ours, theirs)) in tasks.iter().zip(ours.iter().zip(theirs)) {
        let sums = of_task.entry(*task).or_default();
        *sums = (sums.0 + ours - theirs, sums.1 + 1.0);
    }
    let sums: Vec<(f64, f64)> = of_task.into_values().collect();
    let mut rng = Rng::for_part(SEED, "resamples");
    let mut differences: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..sums.len()).map(|_| sums[rng.below(sums.len())]);
            let (difference, count) = drawn.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
            difference / count
        })
        .collect();
    differences.sort_by(f64::total_cmp);
    [RESAMPLES / 40, RESAMPLES - RESAMPLES / 40 - 1].map(|place| differences.get(place).copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_the_difference_and_is_nothing_for_equals() {
        let tasks: Vec<u64> = (0..60).map(|pair| pair / 3).collect();
        let (ours, theirs): (Vec<f64>, Vec<f64>) =
            (0..60).map(|pair| (f64::from(pair % 4 != 0), f64::from(pair % 3 == 0))).unzip();
        let [low, high] = interval(&tasks, &ours, &theirs);
        let difference = mean(&ours) - mean(&theirs);
        assert!(low < difference && difference < high && low > 0.0, "{low} {difference} {high}");
        assert_eq!(interval(&tasks, &ours, &ours), [0.0, 0.0]);
    }

    #[test]
    fn a_tie_is_half_won() {
        assert_eq!(won(&[0.5, -0.5, 0.0]), [1.0, 0.0, 0.5]);
    }
}
