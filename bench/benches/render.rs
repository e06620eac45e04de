//! From steps to texts and to the digests that name them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stash_bench::corpus::{Corpus, FORMAT, Shape};
use stash_bench::traces;
use stash_domain::rendering::{Digester, Form, RenderedTrace};
use std::hint::black_box;

fn render(criterion: &mut Criterion) {
    let lines = Corpus::new(1).lines(Shape::Equal { count: 1, bytes_each: 1_000_000 });
    let trace = traces::read(FORMAT, &lines).unwrap_or_default().pop().unwrap_or_default();
    let bytes = RenderedTrace::of(&trace.steps, Form::ChatMl).trace_text().text.len();
    let mut group = criterion.benchmark_group("render");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("text of a trace", |bencher| {
        bencher.iter(|| black_box(RenderedTrace::of(black_box(&trace.steps), Form::ChatMl).trace_text()));
    });
    group.bench_function("digests of a trace and its actions", |bencher| {
        bencher.iter(|| {
            let mut digester = Digester::new();
            for step in black_box(&trace.steps) {
                black_box(digester.step(step));
            }
            black_box(digester.current())
        });
    });
    group.finish();
}

criterion_group!(benches, render);
criterion_main!(benches);
