//! Records of the log to bytes and back.

mod support;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stash_schemas::{decode_record, encode_record};
use std::hint::black_box;

fn codec(criterion: &mut Criterion) {
    let record = support::record(1);
    let bytes = encode_record(&record).unwrap_or_default();
    let mut group = criterion.benchmark_group("avro");
    group.throughput(Throughput::Elements(1));
    group.bench_function("encode", |bencher| bencher.iter(|| black_box(encode_record(black_box(&record)))));
    group.bench_function("decode", |bencher| bencher.iter(|| black_box(decode_record(black_box(&bytes)))));
    group.finish();
}

criterion_group!(benches, codec);
criterion_main!(benches);
