//! Lengths that lie: decoding them must not ask for the memory they claim. This binary runs with little address space, so that
//! such a request aborts it.

use nix::sys::resource::{Resource, setrlimit};
use stash_schemas::registry::{MARKER, parse};
use stash_schemas::sources::SOURCES;
use stash_schemas::{decode_record, decode_text, registry};

/// Address space of the process. A decode may hold two allocations of 4 MiB; the rest is the test harness.
const ADDRESS_SPACE_BYTES: u64 = 512 << 20;

/// A number as Avro writes it.
fn zigzag(number: i64) -> Vec<u8> {
    let mut bits = ((number << 1) ^ (number >> 63)) as u64;
    let mut bytes = Vec::new();
    while bits > 0x7f {
        bytes.push(0x80 | (bits & 0x7f) as u8);
        bits >>= 7;
    }
    bytes.push(bits as u8);
    bytes
}

#[test]
fn a_length_alone_allocates_little() {
    setrlimit(Resource::RLIMIT_AS, ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES).unwrap();
    let lengths = [1 << 20, 1 << 22, 1 << 30, 1 << 40, i64::MAX, i64::MIN, -1, -(1 << 40)];
    for schema in parse(SOURCES).unwrap() {
        // The lie stands at every place a value may begin: after 0 to 200 bytes that read as nulls, zeros or id bytes.
        for prefix in 0..200 {
            for length in lengths {
                let bytes =
                    [&MARKER[..], &schema.fingerprint.to_le_bytes(), &vec![0; prefix], &zigzag(length), &[0; 64]]
                        .concat();
                let _ = decode_record(&bytes);
                let _ = decode_text(&bytes);
                if let Ok(object) = registry::registry().unwrap().open(&bytes) {
                    let _ = object.read_as_written();
                }
            }
        }
    }
}
