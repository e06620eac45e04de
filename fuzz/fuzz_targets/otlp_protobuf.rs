//! The decoding of OTLP requests in protobuf, as the live door receives them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| stash_fuzz::otlp_protobuf(data));
