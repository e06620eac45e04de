//! Names of roles in the wild.

use crate::trace::Role;

/// The canonical role of a name, in any case; none for an unknown one.
pub(crate) fn role_of(name: &str) -> Option<Role> {
    // Lower-cased only when needed: nearly all inputs use the four names as they are.
    if let Ok(role) = name.parse() {
        return Some(role);
    }
    match name.to_lowercase().as_str() {
        "system" | "developer" => Some(Role::System),
        "user" | "human" | "customer" => Some(Role::User),
        "assistant" | "ai" | "bot" | "model" | "agent" => Some(Role::Assistant),
        "tool" | "function" | "ipython" | "observation" => Some(Role::Tool),
        _ => None,
    }
}
