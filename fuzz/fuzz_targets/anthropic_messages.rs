//! The importer of `anthropic_messages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| stash_fuzz::import("anthropic_messages", data));
