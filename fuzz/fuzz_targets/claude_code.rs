//! The importer of `claude_code`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| stash_fuzz::import("claude_code", data));
