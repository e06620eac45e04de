//! Megabytes of input that importers read each second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stash_bench::corpus::{Corpus, FORMAT, Shape};
use stash_bench::traces;
use stash_domain::formats::{self, ReadOptions};
use std::hint::black_box;
use std::io::Cursor;

fn parse(criterion: &mut Criterion) {
    let lines = Corpus::new(1).lines(Shape::Mixed { bytes: 4_000_000 });
    let one = Corpus::new(1).lines(Shape::One { bytes: 20_000_000 });
    let stash = traces::read(FORMAT, &lines).map(|traces| traces::to_stash(&traces)).unwrap_or_default();
    let mut group = criterion.benchmark_group("parse");
    group.sample_size(20);
    // A trace of 20 MB is more than a reader parses in memory, so it is walked on its source.
    for (name, format, input) in
        [("openai_chat", FORMAT, &lines), ("openai_chat, one large trace", FORMAT, &one), ("stash", "stash", &stash)]
    {
        group.throughput(Throughput::Bytes(input.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(formats::check(format, &mut Cursor::new(input), ReadOptions::default())));
        });
    }
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
