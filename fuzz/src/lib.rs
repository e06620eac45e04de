//! What every fuzz target asserts of the code that reads what people send.
//!
//! - It does not panic, with overflow checks and debug assertions on.
//! - It holds at most [`MEMORY_TIMES`] bytes for each byte of input, and [`MEMORY_BYTES`] beside.
//! - It takes at most [`SECONDS_PER_MB`], and [`SECONDS`] beside, of this thread's processor time: what else runs on the machine
//!   does not count, so a slow machine that is busy reports no hang that is none.
//! - Its result does not depend on how much of the input it may hold in memory, and its export reads back as the same traces.
//!
//! libFuzzer makes short inputs, whose costs the constants hide. So some inputs, chosen by their bytes alone (a finding can be
//! run again), are repeated line by line up to [`GROWN_BYTES`] and must keep to the same bounds.

mod budget;
mod import;
mod keep;

pub use budget::{MEMORY_BYTES, MEMORY_TIMES, SECONDS, SECONDS_PER_MB};
pub use import::import;

use budget::within;

/// Bytes up to which some inputs are repeated.
pub const GROWN_BYTES: usize = 256 * 1024;

/// One of so many inputs is repeated.
const GROWN_ONE_OF: u64 = 64;

/// Decodes a request of OTLP in JSON.
pub fn otlp_json(data: &[u8]) {
    let decode = |data: &[u8]| drop(within("decoding", data.len(), || stash_domain::otel::json::decode(data)));
    decode(data);
    if let Some(grown) = grown(data) {
        decode(&grown);
    }
}

/// The input again and again, a line each; none for most inputs.
fn grown(data: &[u8]) -> Option<Vec<u8>> {
    // FNV-1a: any hash that never changes will do.
    let hash = data
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    if data.is_empty() || (hash >> 32) % GROWN_ONE_OF != 0 {
        return None;
    }
    let mut grown = Vec::with_capacity(GROWN_BYTES);
    while grown.len() + data.len() < GROWN_BYTES {
        grown.extend_from_slice(data);
        grown.push(b'\n');
    }
    Some(grown)
}
