//! `import_1gb_peak_mb`: the most memory that the server's process (API, projector and worker, without Postgres) has while it
//! imports a gigabyte: as one trace, as 100,000, and the larger of the two.
//!
//! The peak is that of the kernel (`VmHWM`), started anew before each import. Each is imported into a server of its own.

use crate::bench::{Bench, Log, import_file};
use crate::figure::{Better, Kind, Measured};
use crate::memory;
use anyhow::ensure;
use stash_bench::corpus::{Corpus, Shape};
use std::time::Instant;

pub(super) static KINDS: [Kind; 3] = [
    Kind { name: "import_1gb_peak_mb", unit: "MB", better: Better::Lower, target: Some(300.0) },
    Kind { name: "import_1gb_one_trace_peak_mb", unit: "MB", better: Better::Lower, target: Some(300.0) },
    Kind { name: "import_1gb_many_traces_peak_mb", unit: "MB", better: Better::Lower, target: Some(300.0) },
];

/// Traces of the many.
const TRACES: u64 = 100_000;

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    let bytes = bench.full_or_quick(1_000_000_000, 20_000_000);
    let count = bench.full_or_quick(TRACES, TRACES / 50);
    let (one, one_note) = peak(bench, Shape::One { bytes }).await?;
    let (many, many_note) = peak(bench, Shape::Equal { count, bytes_each: bytes / count }).await?;
    Ok(vec![
        KINDS[0].is(one.max(many), "the larger of the two below"),
        KINDS[1].is(one, one_note),
        KINDS[2].is(many, many_note),
    ])
}

async fn peak(bench: &mut Bench, shape: Shape) -> anyhow::Result<(f64, String)> {
    let server = bench.place(Log::Postgres)?.start().await?;
    let file = bench.path("import.jsonl");
    let (bytes, traces) = Corpus::new(1).file(shape, &file)?;
    let reset = memory::reset_peak(server.pid());
    let before = memory::peak_mb(server.pid())?;
    let begin = Instant::now();
    let imported = import_file(&server.access, &file).await?;
    let seconds = begin.elapsed().as_secs_f64();
    ensure!(imported.imported == traces, "{} of {traces} traces were imported", imported.imported);
    let peak = memory::peak_mb(server.pid())?;
    server.stop()?;
    std::fs::remove_file(&file)?;
    let from = if reset { "before it" } else { "the highest before it" };
    let note = format!("{:.0} MB in {seconds:.0} s; {from} {before:.0} MB", bytes as f64 / 1e6);
    Ok((peak, note))
}
