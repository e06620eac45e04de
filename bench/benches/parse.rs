//! Megabytes of input that importers read each second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stash_bench::corpus::{Corpus, FORMAT, Shape};
use stash_bench::inputs;
use stash_domain::formats::{self, ReadOptions};
use std::hint::black_box;
use std::io::Cursor;

fn parse(criterion: &mut Criterion) {
    let lines = Corpus::new(1).lines(Shape::Mixed { bytes: 4_000_000 });
    let one = Corpus::new(1).lines(Shape::One { bytes: 20_000_000 });
    let mut group = criterion.benchmark_group("parse");
    group.sample_size(20);
    let inputs = inputs::FORMATS.map(|format| (format, format, inputs::files(format, 1, 2_000_000)));
    // Shorter messages than those of the inputs; and a trace of 20 MB, more than a reader parses in memory: it is walked.
    let others =
        [("openai_chat, short messages", FORMAT, vec![lines]), ("openai_chat, one large trace", FORMAT, vec![one])];
    for (name, format, files) in inputs.into_iter().chain(others) {
        group.throughput(Throughput::Bytes(files.iter().map(|file| file.len() as u64).sum()));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for file in &files {
                    let _ = black_box(formats::check(format, &mut Cursor::new(file), ReadOptions::default()));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
