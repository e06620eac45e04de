//! Ids of calls that came without one.

use crate::formats::common::call_ids::CallIds;
use crate::trace::{Role, Step};

/// Gives a call without an id one, and the same to the result without an id that answers it. A step that has an id keeps it,
/// and so does every step of a trace that was exported.
pub(super) fn complete(step: &mut Step, calls: &mut CallIds) {
    match (step.role, step.tool_name.as_deref(), &step.tool_call_id) {
        (Role::Assistant, Some(tool), None) => step.tool_call_id = Some(calls.call(None, tool)),
        (Role::Assistant, Some(_), Some(id)) => calls.pass_over(id),
        (Role::Tool, tool, None) if calls.any_open() => step.tool_call_id = Some(calls.result(None, tool).0),
        _ => {}
    }
}
