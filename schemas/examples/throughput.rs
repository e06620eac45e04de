//! How fast one core encodes and decodes records of a single annotation, the most frequent command.
//! Run it as `cargo run --release -p stash-schemas --example throughput`.

use stash_domain::events::{AnnotationCreated, Event};
use stash_domain::ids::Digest;
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::sealed::Sealed;
use stash_domain::time::Timestamp;
use stash_schemas::{CodecError, decode_record, encode_record};
use std::hint::black_box;
use std::time::Instant;
use uuid::Uuid;

/// Repeats per figure: a few seconds.
const REPEATS: u32 = 1_000_000;

fn main() -> Result<(), CodecError> {
    let id = |bits: u128| Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + bits);
    let record = Record {
        command_id: id(1).into(),
        owner_id: id(2).into(),
        request_digest: Digest::of(b"request"),
        actor: Actor::ApiKey(id(3).into()),
        causation_id: None,
        correlation_id: id(4),
        recorded_at: Timestamp(1_767_225_600_000_000),
        appends: vec![Append {
            stream: StreamId::Annotation(id(5).into()),
            expected: Expected::Version(0),
            events: vec![Event::from(AnnotationCreated {
                annotation_id: id(5).into(),
                trace_id: id(6).into(),
                step_id: Some(id(7).into()),
                rating: Some(1),
                author_id: id(2).into(),
                subject_id: id(8).into(),
                text: Some(Sealed(vec![7; 200])),
            })],
        }],
    };
    let bytes = encode_record(&record)?;
    println!("{} bytes per record", bytes.len());
    report("encode", || encode_record(black_box(&record)).map(drop))?;
    report("decode", || decode_record(black_box(&bytes)).map(drop))
}

fn report(what: &str, mut work: impl FnMut() -> Result<(), CodecError>) -> Result<(), CodecError> {
    let start = Instant::now();
    for _ in 0..REPEATS {
        work()?;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what}: {:.0} records/s, {:.2} µs each",
        f64::from(REPEATS) / seconds,
        seconds * 1e6 / f64::from(REPEATS)
    );
    Ok(())
}
