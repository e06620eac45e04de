//! Megabytes of content sealed and opened each second: a comment, a step, a whole frame.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stash_bench::corpus::{Corpus, Shape};
use stash_domain::ids::{OwnerId, SubjectId};
use stash_domain::limits::FRAME_BYTES_TARGET;
use stash_infra::seal::{Purpose, open_bytes, seal_into};
use stash_infra::subject_keys::SubjectKey;
use std::hint::black_box;
use uuid::Uuid;
use zeroize::Zeroizing;

fn seal(criterion: &mut Criterion) {
    let root = Zeroizing::new([3; 32]);
    let key = SubjectKey::from_root(OwnerId(Uuid::from_u128(1)), SubjectId(Uuid::from_u128(2)), &root);
    let content = Corpus::new(1).lines(Shape::One { bytes: FRAME_BYTES_TARGET as u64 });
    for (name, length) in [("100 B", 100), ("4 kB", 4_000), ("frame", FRAME_BYTES_TARGET)] {
        let plain = &content[..length];
        let mut sealed = Vec::new();
        // Only content over a gigabyte is refused.
        let _ = seal_into(&key, Purpose::TRACE_FRAMES, plain, &mut sealed);
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(length as u64));
        let mut out = Vec::with_capacity(length + 1024);
        group.bench_function("seal", |bencher| {
            bencher.iter(|| {
                out.clear();
                black_box(seal_into(&key, Purpose::TRACE_FRAMES, black_box(plain), &mut out))
            });
        });
        group.bench_function("open", |bencher| {
            bencher.iter(|| black_box(open_bytes(Some(&key), Purpose::TRACE_FRAMES, black_box(&sealed), length)));
        });
        group.finish();
    }
}

criterion_group!(benches, seal);
criterion_main!(benches);
