//! The importer of `langsmith`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| stash_fuzz::import("langsmith", data));
