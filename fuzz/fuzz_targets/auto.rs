//! The importer that finds out the format itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| stash_fuzz::import("auto", data));
