//! `import_mb_per_s`: megabytes of a raw body each second, from the request to the first successful read at its position: parsed,
//! sealed, durable and readable.
//!
//! Files hold traces of 2 to 64 kB, new ones in each. The first file warms up and does not count.

use crate::bench::{Bench, Log, import_file};
use crate::figure::{Better, Kind, Measured};
use crate::statistics::{median, spread};
use anyhow::ensure;
use stash_bench::corpus::{Corpus, Shape};
use std::time::Instant;

pub(super) static KINDS: [Kind; 1] =
    [Kind { name: "import_mb_per_s", unit: "MB/s", better: Better::Higher, target: Some(20.0) }];

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    let shape = Shape::Mixed { bytes: bench.full_or_quick(200_000_000, 5_000_000) };
    let files = bench.full_or_quick(6, 2);
    let server = bench.place(Log::Postgres)?.start().await?;
    let mut rates = Vec::new();
    for seed in 0..files {
        let file = bench.path("import.jsonl");
        let (bytes, traces) = Corpus::new(seed).file(shape, &file)?;
        let begin = Instant::now();
        let imported = import_file(&server.access, &file).await?;
        let seconds = begin.elapsed().as_secs_f64();
        ensure!(imported.imported == traces, "{} of {traces} traces were imported", imported.imported);
        if seed > 0 {
            rates.push(bytes as f64 / 1e6 / seconds);
        }
    }
    server.stop()?;
    Ok(vec![KINDS[0].is(median(&rates), spread(&rates))])
}
