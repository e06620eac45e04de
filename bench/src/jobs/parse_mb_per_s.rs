//! `parse_mb_per_s_<format>`: megabytes of input that an importer reads each second on one core, from bytes in memory to traces
//! handed to a sink that keeps none.
//!
//! The files are generated and the same in every run. The first pass over them warms up and does not count.

use crate::bench::Bench;
use crate::figure::{Better, Kind, Measured};
use crate::statistics::{median, spread};
use anyhow::ensure;
use stash_bench::inputs;
use stash_domain::formats::{self, ReadOptions};
use std::io::Cursor;
use std::time::Instant;

/// The figures, in the order of [`inputs::FORMATS`].
pub(super) static KINDS: [Kind; inputs::FORMATS.len()] = [
    kind("parse_mb_per_s_openai_chat", 200.0),
    kind("parse_mb_per_s_stash", 200.0),
    kind("parse_mb_per_s_anthropic_messages", 80.0),
    kind("parse_mb_per_s_otel", 80.0),
    kind("parse_mb_per_s_langfuse", 80.0),
    kind("parse_mb_per_s_langsmith", 80.0),
    kind("parse_mb_per_s_claude_code", 80.0),
    kind("parse_mb_per_s_codex", 80.0),
];

const fn kind(name: &'static str, target: f64) -> Kind {
    Kind { name, unit: "MB/s", better: Better::Higher, target: Some(target) }
}

/// Measures.
pub(super) fn run(bench: &Bench) -> anyhow::Result<Vec<Measured>> {
    let bytes = bench.full_or_quick(32_000_000, 2_000_000);
    let passes = bench.full_or_quick(7, 3);
    inputs::FORMATS.iter().zip(&KINDS).map(|(format, kind)| measure(format, kind, bytes, passes)).collect()
}

fn measure(format: &str, kind: &'static Kind, bytes: usize, passes: usize) -> anyhow::Result<Measured> {
    let files = inputs::files(format, 1, bytes);
    let bytes: usize = files.iter().map(Vec::len).sum();
    let mut rates = Vec::new();
    for pass in 0..=passes {
        let begin = Instant::now();
        for file in &files {
            let report = formats::check(format, &mut Cursor::new(file), ReadOptions::default())?;
            ensure!(
                report.traces > 0 && report.warnings.count == 0,
                "the {format} input is not wholly good: {report:?}"
            );
        }
        let seconds = begin.elapsed().as_secs_f64();
        if pass > 0 {
            rates.push(bytes as f64 / 1e6 / seconds);
        }
    }
    Ok(kind.is(median(&rates), spread(&rates)))
}
