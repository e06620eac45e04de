//! `score_12_actions_1000_tokens_vs_hf_bf16`: how many times as fast the worker's engine scores the 12 actions of a trace of 1,000
//! tokens as transformers does in bf16, text by text; and what each takes of memory, model included.
//!
//! 1. The peer makes the model: Qwen3-0.6B's shape, random weights of one seed, stored in bf16, which both open.
//! 2. The exact scores: the worker's engine in fp32, of several traces. The engine that is measured must rank them as these do
//!    (Spearman at least [`SPEARMAN_MIN`]) and differ by no more than [`DIFFERENCE_MAX`] of their deviation.
//! 3. The peer tries its batch sizes and keeps the best.
//! 4. Both take turns. The figure is the quotient of the medians; two threads each. The engine does it [`IN_A_ROW`] times each turn:
//!    it is idle ten times as long as the peer, and a kernel that takes memory back from who is idle gives it back in the first.

use crate::bench::Bench;
use crate::figure::{Better, Kind, Measured};
use crate::statistics::{median, spread};
use crate::{memory, peer};
use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use stash_model::manifest::{self, Manifest};
use stash_model::rng::Rng;
use stash_model::tokenize::{Form, TOKEN_LIMIT};
use stash_workers::scoring::{OrtOptions, OrtScorer, Precision, Scorer as _, lacks};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

pub(super) static KINDS: [Kind; 2] = [
    Kind { name: "score_12_actions_1000_tokens_vs_hf_bf16", unit: "times", better: Better::Higher, target: Some(10.0) },
    Kind { name: "score_12_actions_1000_tokens_peak_mb", unit: "MB", better: Better::Lower, target: None },
];

const PEER: &str = "transformers 5.24.0 bf16";

/// Threads of each side.
const THREADS: usize = 2;

/// Tokens of a trace: a task, and then turns that end with an action each.
const TRACE_TOKENS: usize = 1_000;
const TASK_TOKENS: usize = 160;
const ACTIONS: usize = 12;

/// Ids below the special ones.
const IDS: usize = 151_000;

/// Times that the engine scores the trace before it is the peer's turn.
const IN_A_ROW: usize = 3;

/// Batch sizes that the peer tries.
const BATCHES: [usize; 4] = [1, 4, 8, 16];

/// Least rank correlation with the exact scores.
const SPEARMAN_MIN: f64 = 0.999;

/// Largest difference from an exact score, as a part of the deviation of all.
const DIFFERENCE_MAX: f64 = 0.03;

/// Measures.
pub(super) fn run(bench: &Bench) -> anyhow::Result<Vec<Measured>> {
    if let Some(missing) = lacks(Precision::Bf16, THREADS) {
        bail!("the engine that this is about cannot run here: {missing}");
    }
    let python = peer::programs(&bench.repository, "hf")?.join("python");
    let script = bench.repository.join("bench/peers/hf_score.py");
    let model = bench.path("qwen3-shape");
    make(&python, &script, &model)?;
    let traces: Vec<Vec<u32>> = (0..bench.full_or_quick(8, 2)).map(trace).collect();
    let (exact, fp32_seconds) = timed(&open(&model, Precision::Fp32)?, &traces)?;
    let int8 = match lacks(Precision::Int8, THREADS) {
        Some(missing) => format!("int8: {missing}"),
        None => {
            let (scores, seconds) = timed(&open(&model, Precision::Int8)?, &traces)?;
            let (spearman, difference) = compare(&exact, &scores);
            let percent = difference * 100.0;
            format!("int8: {seconds:.2} s, Spearman {spearman:.5}, largest difference {percent:.2} %")
        }
    };

    memory::reset_peak(std::process::id());
    let scorer = open(&model, Precision::Bf16)?;
    let scores = all_scores(&scorer, &traces)?;
    let (spearman, difference) = compare(&exact, &scores);
    ensure!(spearman >= SPEARMAN_MIN, "the scores rank as the exact ones by {spearman:.5} only");
    ensure!(difference <= DIFFERENCE_MAX, "a score differs by {difference:.4} of the deviation");

    let mut peer = Peer::start(&python, &script, &model)?;
    let (trace, ends) = (&traces[0], ends());
    let texts: Vec<&[u32]> = ends.iter().map(|end| &trace[..*end]).collect();
    let mut best = (f64::INFINITY, 1);
    let mut of_peer = Vec::new();
    for batch in BATCHES {
        let answer = peer.score(&texts, batch)?;
        if answer.seconds < best.0 {
            best = (answer.seconds, batch);
        }
        of_peer = answer.scores;
    }
    let (_, peer_difference) = compare(&exact[..ACTIONS], &of_peer);
    let (mut ours, mut theirs, mut peer_mb) = (Vec::new(), Vec::new(), 0.0);
    for _ in 0..bench.full_or_quick(5, 1) {
        for _ in 0..IN_A_ROW {
            let begin = Instant::now();
            scorer.score_prefixes(trace, &ends)?;
            ours.push(begin.elapsed().as_secs_f64());
        }
        let answer = peer.score(&texts, best.1)?;
        theirs.push(answer.seconds);
        peer_mb = answer.peak_kb * 1024.0 / 1e6;
    }
    let note = format!(
        "28 layers; {} tokens of 12 texts in one pass of {TRACE_TOKENS}; seconds: {}; peer, batches of {}: {}; Spearman {spearman:.5}, \
         largest difference {:.2} % of the deviation (peer {:.2} %); fp32: {fp32_seconds:.2} s; {int8}",
        texts.iter().map(|text| text.len()).sum::<usize>(),
        spread(&ours),
        best.1,
        spread(&theirs),
        difference * 100.0,
        peer_difference * 100.0,
    );
    let own_mb = memory::peak_mb(std::process::id())?;
    Ok(vec![
        KINDS[0].is(median(&theirs) / median(&ours), note).beside(PEER, 1.0),
        KINDS[1].is(own_mb, "this process, opening the model included").beside(PEER, peer_mb),
    ])
}

fn make(python: &Path, script: &Path, model: &Path) -> anyhow::Result<()> {
    let output = Command::new(python)
        .arg(script)
        .arg(model)
        .args([&THREADS.to_string(), "make"])
        .stdin(Stdio::null())
        .output()
        .context("the peer cannot be run")?;
    ensure!(output.status.success(), "making the model: {}", String::from_utf8_lossy(&output.stderr).trim());
    let manifest = Manifest {
        rendering_version: manifest::RENDERING_VERSION,
        form: Form::Chatml,
        token_limit: TOKEN_LIMIT,
        truncation: manifest::TruncationRule::Strict,
        base_checksum: String::new(),
        seed: 1,
        code_version: env!("CARGO_PKG_VERSION").to_owned(),
        precision: None,
    };
    Ok(manifest.write(model)?)
}

fn open(model: &Path, precision: Precision) -> anyhow::Result<OrtScorer> {
    let options = OrtOptions { threads: Some(THREADS), precision: Some(precision) };
    OrtScorer::open_with(model, options).context("no scoring (`make bench` names ONNX Runtime in ORT_DYLIB_PATH)")
}

fn trace(number: u64) -> Vec<u32> {
    let mut rng = Rng::new(number);
    (0..TRACE_TOKENS).map(|_| rng.below(IDS) as u32).collect()
}

/// Where the actions end.
fn ends() -> Vec<usize> {
    (1..=ACTIONS).map(|action| TASK_TOKENS + (TRACE_TOKENS - TASK_TOKENS) / ACTIONS * action).collect()
}

fn all_scores(scorer: &OrtScorer, traces: &[Vec<u32>]) -> anyhow::Result<Vec<f64>> {
    let mut all = Vec::new();
    for trace in traces {
        all.extend(scorer.score_prefixes(trace, &ends())?.into_iter().map(f64::from));
    }
    Ok(all)
}

/// All scores, and the median of the seconds that a trace took.
fn timed(scorer: &OrtScorer, traces: &[Vec<u32>]) -> anyhow::Result<(Vec<f64>, f64)> {
    let (mut all, mut seconds) = (Vec::new(), Vec::new());
    for trace in traces {
        let begin = Instant::now();
        all.extend(all_scores(scorer, std::slice::from_ref(trace))?);
        seconds.push(begin.elapsed().as_secs_f64());
    }
    Ok((all, median(&seconds)))
}

/// The rank correlation with exact scores, and the largest difference as a part of their deviation.
fn compare(exact: &[f64], scores: &[f64]) -> (f64, f64) {
    let count = exact.len() as f64;
    let mean = exact.iter().sum::<f64>() / count;
    let deviation = (exact.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count).sqrt();
    let farthest = exact.iter().zip(scores).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let apart: f64 = ranks(exact).iter().zip(ranks(scores)).map(|(a, b)| (a - b).powi(2)).sum();
    (1.0 - 6.0 * apart / (count * (count * count - 1.0)), farthest / deviation)
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = rank as f64;
    }
    ranks
}

/// The running peer; stopped with this value.
struct Peer {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Answer {
    seconds: f64,
    scores: Vec<f64>,
    peak_kb: f64,
}

impl Peer {
    fn start(python: &Path, script: &Path, model: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(python)
            .arg(script)
            .arg(model)
            .arg(THREADS.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the peer cannot be run")?;
        let requests = child.stdin.take().context("the peer cannot be asked")?;
        let answers = BufReader::new(child.stdout.take().context("the peer cannot be read")?);
        Ok(Self { child, requests, answers })
    }

    fn score(&mut self, texts: &[&[u32]], batch: usize) -> anyhow::Result<Answer> {
        let request = serde_json::json!({"texts": texts, "batch": batch});
        writeln!(self.requests, "{request}").context("the peer ended")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).context("the peer ended; run its script by hand to see why")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_end_with_the_trace() {
        assert_eq!((ends()[0], ends()[ACTIONS - 1], ends().len()), (230, TRACE_TOKENS, ACTIONS));
    }

    #[test]
    fn scores_are_compared_by_rank_and_by_distance() {
        let exact = [0.0, 1.0, 2.0, 3.0];
        assert_eq!(compare(&exact, &exact), (1.0, 0.0));
        let (spearman, difference) = compare(&exact, &[3.0, 2.0, 1.0, 0.0]);
        assert!((spearman + 1.0).abs() < 1e-12 && difference > 2.0);
    }
}
