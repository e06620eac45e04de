//! Results for scripts.

use serde::Serialize;

/// Prints a value as indented JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    super::line(serde_json::to_string_pretty(value)?)
}
