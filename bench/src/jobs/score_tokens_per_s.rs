//! `score_tokens_per_s`: tokens of texts that the worker's engine scores each second, tokenising included, padding not counted.
//!
//! The engine is the worker's own (ONNX Runtime), in this process, on all cores. Two passes warm up; the figure is the median of
//! the next.

use super::model;
use crate::bench::Bench;
use crate::figure::{Better, Kind, Measured};
use crate::machine;
use crate::statistics::{median, spread};
use anyhow::Context as _;
use stash_domain::rendering::RenderedTrace;
use stash_model::tokenize::{Segmented, TOKEN_LIMIT, TextTokenizer};
use stash_workers::scoring::{OrtOptions, Precision, TextScorer};
use std::time::Instant;

pub(super) static KINDS: [Kind; 1] =
    [Kind { name: "score_tokens_per_s", unit: "tokens/s", better: Better::Higher, target: None }];

/// Passes that do not count.
const WARM_UP: usize = 2;

/// Measures.
pub(super) fn run(bench: &Bench) -> anyhow::Result<Vec<Measured>> {
    let checkpoint = bench.path("scored-model");
    model::make_checkpoint(&checkpoint)?;
    let texts: Vec<_> = model::rendered(bench.full_or_quick(64, 8))?.iter().map(RenderedTrace::trace_text).collect();
    let cuts = texts.iter().map(model::cuts).collect::<Result<Vec<_>, _>>()?;
    let segmented: Vec<_> = texts.iter().zip(&cuts).map(|(text, cuts)| Segmented { text: &text.text, cuts }).collect();
    let tokenizer = TextTokenizer::open(&checkpoint)?;
    let mut tokens = 0;
    for text in &segmented {
        tokens += tokenizer.encode(text)?.window(TOKEN_LIMIT).ids.len();
    }
    let options = OrtOptions { threads: Some(machine::cores()), precision: Some(Precision::Fp32) };
    let scorer = TextScorer::open(&checkpoint, options)
        .context("no scoring (`make bench` names ONNX Runtime in ORT_DYLIB_PATH)")?;
    let mut rates = Vec::new();
    for pass in 0..WARM_UP + bench.full_or_quick(5, 1) {
        let begin = Instant::now();
        scorer.score_texts(&segmented)?;
        if pass >= WARM_UP {
            rates.push(tokens as f64 / begin.elapsed().as_secs_f64());
        }
    }
    let note = format!("{} texts, {tokens} tokens, 3.7 million weights; {}", texts.len(), spread(&rates));
    Ok(vec![KINDS[0].is(median(&rates), note)])
}
