//! Checks an answer against the description of all routes: commands answer with what reads give.

use serde_json::Value;

/// Checks a value against the schema of this name.
#[track_caller]
pub(crate) fn assert_fits(value: &Value, name: &str) {
    let mut api = stash_query_api::openapi();
    api.merge(stash_command_api::openapi());
    stash_infra::testing::assert_fits(&serde_json::to_value(api).unwrap(), value, name);
}
