//! Text a model reads.
use serde_json::{Map, Value};

/// JSON text of an object, keys sorted.
pub fn canonical_json(object: &Map<String, Value>) -> String {
    serde_json::to_string(object).unwrap_or_default()
}
