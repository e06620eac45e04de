//! Whether a value is what a schema asks for.

use super::node::Node;
use serde_json::Value;

/// Checks a value. What is wrong is told by place and expectation, without the value: it goes back to the model, which knows
/// what it wrote, and into the failure of a job, where content must not stand.
pub(super) fn check(schema: &Node, value: &Value, path: &str) -> Result<(), String> {
    if let Some(expected) = schema.get("const")
        && !expected.is(value)
    {
        return Err(format!("{path} must be {expected}"));
    }
    if let Some(choices) = schema.get("enum")
        && !choices.items().iter().any(|choice| choice.is(value))
    {
        return Err(format!("{path} must be one of {choices}"));
    }
    if let Some(types) = schema.get("type") {
        let names: Vec<&str> = match types {
            Node::Array(types) => types.iter().filter_map(Node::as_str).collect(),
            single => single.as_str().into_iter().collect(),
        };
        if !names.iter().any(|name| has_type(name, value)) {
            return Err(format!("{path} must be of type {}", names.join(" or ")));
        }
    }
    if let Some(any) = schema.get("anyOf") {
        let mut first = None;
        for schema in any.items() {
            match check(schema, value, path) {
                Ok(()) => {
                    first = None;
                    break;
                }
                Err(wrong) => first = first.or(Some(wrong)),
            }
        }
        if let Some(wrong) = first {
            return Err(wrong);
        }
    }
    match value {
        Value::Object(fields) => object(schema, fields, path),
        Value::Array(items) => {
            count(schema, items.len(), ("minItems", "maxItems"), path, "items")?;
            let Some(each) = schema.get("items") else { return Ok(()) };
            items.iter().enumerate().try_for_each(|(index, item)| check(each, item, &format!("{path}[{index}]")))
        }
        Value::String(text) => count(schema, text.chars().count(), ("minLength", "maxLength"), path, "characters"),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let bound = |name| schema.get(name).and_then(Node::as_f64);
            match (bound("minimum"), bound("maximum")) {
                (Some(min), _) if number.is_nan() || number < min => Err(format!("{path} must be at least {min}")),
                (_, Some(max)) if number.is_nan() || number > max => Err(format!("{path} must be at most {max}")),
                _ => Ok(()),
            }
        }
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn object(schema: &Node, fields: &serde_json::Map<String, Value>, path: &str) -> Result<(), String> {
    for required in schema.get("required").map_or(&[][..], Node::items).iter().filter_map(Node::as_str) {
        if !fields.contains_key(required) {
            return Err(format!("{path}.{required} is missing"));
        }
    }
    let properties = schema.get("properties").map_or(&[][..], Node::fields);
    let is_closed = schema.get("additionalProperties").is_some_and(|allowed| allowed.is(&Value::Bool(false)));
    if is_closed && fields.keys().any(|field| !properties.iter().any(|(name, _)| name == field)) {
        let names: Vec<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
        return Err(format!("{path} may have no fields but {}", names.join(", ")));
    }
    for (name, property) in properties {
        if let Some(value) = fields.get(name) {
            check(property, value, &format!("{path}.{name}"))?;
        }
    }
    Ok(())
}

fn count(schema: &Node, count: usize, (min, max): (&str, &str), path: &str, what: &str) -> Result<(), String> {
    let bound = |name| schema.get(name).and_then(Node::as_f64);
    let count = count as f64;
    match (bound(min), bound(max)) {
        (Some(min), _) if count < min => Err(format!("{path} must have at least {min} {what}")),
        (_, Some(max)) if count > max => Err(format!("{path} must have at most {max} {what}")),
        _ => Ok(()),
    }
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        // 1.0 is an integer too, as JSON Schema has it.
        "integer" => value.as_i64().is_some() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}
