//! The importer of `openai_chat`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| stash_fuzz::import("openai_chat", data));
