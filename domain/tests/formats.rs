//! Import formats: golden cases, hostile input, large records, and the round trip through the export.
//!
//! A case is a folder `tests/formats/<format>/<case>/` with `in.jsonl` and `expected.json`. After a deliberate change run the
//! tests with `STASH_BLESS=1`, which writes what was found into `expected.json`, and read the difference.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "formats/support.rs"]
mod support;

#[path = "formats/cases.rs"]
mod cases;
#[path = "formats/codex_texts.rs"]
mod codex_texts;
#[path = "formats/dense.rs"]
mod dense;
#[path = "formats/detect.rs"]
mod detect;
#[path = "formats/hostile.rs"]
mod hostile;
#[path = "formats/large.rs"]
mod large;
#[path = "formats/nul.rs"]
mod nul;
#[path = "formats/otel.rs"]
mod otel;
#[path = "formats/otel_conventions.rs"]
mod otel_conventions;
#[path = "formats/properties.rs"]
mod properties;
#[path = "formats/round_trip.rs"]
mod round_trip;
#[path = "formats/sessions.rs"]
mod sessions;
#[path = "formats/tracing.rs"]
mod tracing;
