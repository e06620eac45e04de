//! Carrier 8: `gen_ai.prompt` and `gen_ai.completion` without indices, whole inputs and outputs as JSON, as LangSmith's exporter
//! writes them.

use super::Carried;
use super::raw_payload::pair;
use crate::otel::Attributes;

/// Reads both.
pub(super) fn read(attributes: &Attributes) -> Option<Carried> {
    pair(attributes.get("gen_ai.prompt").cloned(), attributes.get("gen_ai.completion").cloned())
}
