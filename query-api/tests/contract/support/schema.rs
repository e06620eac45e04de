//! Checks an answer against the description of the routes that read.

use serde_json::Value;

/// Checks a value against the schema of this name.
#[track_caller]
pub(crate) fn assert_fits(value: &Value, name: &str) {
    let api = serde_json::to_value(stash_query_api::openapi()).unwrap();
    stash_infra::testing::assert_fits(&api, value, name);
}
