//! One step of the canonical form.

use crate::formats::common::record::Bad;
use crate::formats::common::roles::role_of;
use crate::formats::common::tool_input::{too_deep, tool_input};
use crate::json::{Json, Object};
use crate::trace::{Role, Step};

/// Reads a step. A key that is unknown goes into its metadata.
pub(super) fn step(item: Json) -> Result<Step, Bad> {
    let Json::Object(fields) = item else {
        return Err(Bad::new("", format!("a step must be an object, not {}", item.kind())));
    };
    let mut step = Step {
        role: Role::User,
        content: String::new(),
        tool_name: None,
        tool_input: None,
        tool_call_id: None,
        metadata: None,
    };
    let (mut role, mut content, mut extra) = (None, None, Vec::new());
    for (key, value) in fields {
        match key.as_str() {
            "role" => role = Some(value),
            "content" => content = Some(value),
            "tool_name" => step.tool_name = optional_text("tool_name", value)?,
            "tool_call_id" => step.tool_call_id = optional_text("tool_call_id", value)?,
            // Null says here that there is no input, as it does for every other optional field.
            "tool_input" if value == Json::Null => step.tool_input = None,
            "tool_input" => step.tool_input = Some(tool_input(Some(value)).map_err(|bad| bad.within("tool_input"))?),
            "metadata" => step.metadata = metadata(value)?,
            _ if value.is_too_deep() => return Err(too_deep().within(&key)),
            _ => extra.push((key, value)),
        }
    }
    step.role = self::role(role)?;
    step.content = match content {
        Some(Json::Text(text)) => text,
        Some(other) => {
            let message = format!("must be a string, not {}; write \"\" for a step without text", other.kind());
            return Err(Bad::new("content", message));
        }
        None => return Err(Bad::new("content", "is missing; write \"\" for a step without text")),
    };
    if !extra.is_empty() {
        let metadata = step.metadata.get_or_insert_default();
        metadata.fill(Object::from(extra));
    }
    Ok(step)
}

fn role(role: Option<Json>) -> Result<Role, Bad> {
    match role {
        Some(Json::Text(name)) => role_of(&name).ok_or_else(|| {
            let shown: String = name.chars().take(40).collect();
            Bad::new("role", format!("unknown role {shown:?}; use system, user, assistant or tool"))
        }),
        Some(other) => Err(Bad::new("role", format!("must be a string, not {}", other.kind()))),
        None => Err(Bad::new("role", "is missing; use system, user, assistant or tool")),
    }
}

fn metadata(value: Json) -> Result<Option<Object>, Bad> {
    match value {
        deep if deep.is_too_deep() => Err(too_deep().within("metadata")),
        Json::Object(fields) => Ok(Some(Object::from(fields))),
        Json::Null => Ok(None),
        other => Err(Bad::new("metadata", format!("must be an object, not {}", other.kind()))),
    }
}

/// A string, or null for none.
pub(super) fn optional_text(field: &str, value: Json) -> Result<Option<String>, Bad> {
    match value {
        Json::Text(text) => Ok(Some(text)),
        Json::Null => Ok(None),
        other => Err(Bad::new(field, format!("must be a string, not {}", other.kind()))),
    }
}
