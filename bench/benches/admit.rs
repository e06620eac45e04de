//! Verdicts per second.

mod support;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use stash_domain::admit::AdmissionState;
use stash_domain::record::Record;
use stash_domain::time::Timestamp;
use std::hint::black_box;

/// Records of one batch, as many as the projector takes at once.
const RECORDS: u64 = 1000;

fn admit(criterion: &mut Criterion) {
    let records: Vec<Record> = (0..RECORDS).map(support::record).collect();
    let mut judged = AdmissionState::default();
    records.iter().for_each(|record| drop(judged.step(record, Timestamp(1))));
    let mut group = criterion.benchmark_group("admit");
    group.throughput(Throughput::Elements(RECORDS));
    for (name, known) in [("fresh", AdmissionState::default()), ("repeats", judged)] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || known.clone(),
                |state| records.iter().for_each(|record| drop(black_box(state.step(record, Timestamp(2))))),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, admit);
criterion_main!(benches);
