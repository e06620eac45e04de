//! What every fuzz target asserts of the code that reads what people send.
//!
//! - It does not panic, with overflow checks and debug assertions on.
//! - It holds at most [`MEMORY_TIMES`] bytes for each byte of input, and [`MEMORY_BYTES`] beside.
//! - It takes at most [`SECONDS_PER_MB`], and [`SECONDS`] beside, of this thread's processor time: what else runs on the machine
//!   does not count, so a slow machine that is busy reports no hang that is none.
//! - Its result does not depend on how much of the input it may hold in memory, and its export reads back as the same traces.
//!
//! libFuzzer makes short inputs, whose costs the constants hide. So some inputs, chosen by their bytes alone (a finding can be
//! run again), are repeated line by line up to [`GROWN_BYTES`], and in some a value is replaced by half a megabyte of the smallest
//! values that there are. They must keep to the same bounds.

mod budget;
mod dense;
mod import;
mod keep;
mod sweep;

pub use budget::{MEMORY_BYTES, MEMORY_TIMES, PART_BYTES, SECONDS, SECONDS_PER_MB};
pub use import::import;
pub use sweep::Sweep;

use budget::{beyond, within, within_parts};
use bytes::Bytes;
use stash_domain::otel::json::Decoded;
use stash_domain::otel::{check_log_messages, check_messages, json, protobuf};
use std::sync::LazyLock;

/// Bytes up to which some inputs are repeated.
pub const GROWN_BYTES: usize = 256 * 1024;

/// One of so many inputs is repeated.
const GROWN_ONE_OF: u64 = 64;

/// Decodes a request of OTLP in JSON.
pub fn otlp_json(data: &[u8]) {
    let decode = |data: &[u8]| drop(within("decoding", data, || json::decode(data).map(checked)));
    decode(data);
    for larger in larger(data) {
        decode(&larger);
    }
}

/// Decodes a request of OTLP in protobuf, for spans and for log records.
pub fn otlp_protobuf(data: &[u8]) {
    let decode = |data: Bytes| {
        let (spans, logs) = (protobuf::traces_parts(&data), protobuf::logs_parts(&data));
        let (spans, logs) = (beyond(spans, data.len()), beyond(logs, data.len()));
        drop(within_parts("decoding", data.len(), spans, || protobuf::decode_traces(data.clone()).map(checked)));
        drop(within_parts("decoding", data.len(), logs, || protobuf::decode_logs(data.clone()).map(checked)));
    };
    // The request is held in memory before it is decoded, as at the door.
    decode(Bytes::copy_from_slice(data));
    // Requests one after another are one request, since the fields that repeat are lists.
    if hash(data) % GROWN_ONE_OF == 0 && !data.is_empty() {
        decode(Bytes::from(data.repeat(GROWN_BYTES / data.len())));
    }
}

/// Checks the messages of model calls, as the door does; how many are good.
fn checked(decoded: Decoded) -> usize {
    let spans = decoded.spans.iter().filter(|span| check_messages(span).is_ok());
    spans.count() + decoded.logs.iter().filter(|log| check_log_messages(log).is_ok()).count()
}

/// FNV-1a: any hash that never changes will do.
fn hash(data: &[u8]) -> u64 {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    data.iter().fold(0xcbf2_9ce4_8422_2325_u64, fnv) >> 32
}

/// Larger inputs made of this one; none for most inputs.
fn larger(data: &[u8]) -> Vec<Vec<u8>> {
    let hash = hash(data);
    let dense = is_dense(hash).then(|| dense::dense(data, hash / GROWN_ONE_OF)).flatten();
    let grown = (hash % GROWN_ONE_OF == 0).then(|| grown(data)).flatten();
    grown.into_iter().chain(dense).collect()
}

/// One of so many inputs is made dense, unless `FUZZ_DENSE` says otherwise.
const DENSE_ONE_OF: u64 = 64;

/// Whether an input of this hash is one of those that are made dense.
fn is_dense(hash: u64) -> bool {
    static ONE_OF: LazyLock<u64> = LazyLock::new(|| {
        let Ok(said) = std::env::var("FUZZ_DENSE") else { return DENSE_ONE_OF };
        said.parse().ok().filter(|one_of| *one_of > 0).expect("FUZZ_DENSE must be a number from 1 on")
    });
    hash % *ONE_OF == 1 % *ONE_OF
}

/// The input again and again, a line each.
fn grown(data: &[u8]) -> Option<Vec<u8>> {
    if data.is_empty() {
        return None;
    }
    let mut grown = Vec::with_capacity(GROWN_BYTES);
    while grown.len() + data.len() < GROWN_BYTES {
        grown.extend_from_slice(data);
        grown.push(b'\n');
    }
    Some(grown)
}
