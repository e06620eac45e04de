//! Call ids that tell no call from another.

use super::SourceSpan;
use crate::trace::{Role, Step};
use std::collections::HashSet;

/// Takes away call ids that tell no call from another: a tool's own name, or one id for all calls of a span.
pub(super) fn drop_unusable_ids(span: &mut SourceSpan) {
    let steps = || span.input.iter().chain(&span.output);
    let calls: Vec<&Step> = steps().filter(|step| step.role == Role::Assistant && step.tool_name.is_some()).collect();
    let first = calls.first().and_then(|call| call.tool_call_id.clone());
    let one_for_all = calls.len() > 1 && calls.iter().all(|call| call.tool_call_id == first);
    let shared = first.filter(|_| one_for_all);
    let named = calls.iter().filter(|call| call.tool_call_id == call.tool_name);
    let names: HashSet<String> = named.filter_map(|call| call.tool_call_id.clone()).collect();
    for step in span.input.iter_mut().chain(&mut span.output) {
        if step
            .tool_call_id
            .as_ref()
            .is_some_and(|id| id.is_empty() || Some(id) == shared.as_ref() || names.contains(id))
        {
            step.tool_call_id = None;
        }
    }
}
