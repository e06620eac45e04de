//! The importer of `langfuse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| stash_fuzz::import("langfuse", data));
