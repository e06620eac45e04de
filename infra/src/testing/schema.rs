//! Checks an answer against an API description: exactly the members that it names, each of the type that it says.

use serde_json::Value;

/// Checks a value against the schema of this name in an OpenAPI description.
///
/// # Panics
/// When it does not fit; the text says where.
#[track_caller]
pub fn assert_fits(api: &Value, value: &Value, name: &str) {
    let schema = &api["components"]["schemas"][name];
    assert!(schema.is_object(), "the API description has no schema {name}");
    if let Err(error) = fits(api, schema, value, name) {
        panic!("{error}");
    }
}

fn fits(api: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return fits(api, &api["components"]["schemas"][name], value, at);
    }
    if let Some(options) = schema["oneOf"].as_array() {
        let errors: Vec<String> = options.iter().filter_map(|option| fits(api, option, value, at).err()).collect();
        return if errors.len() == options.len() { Err(errors.join("; ")) } else { Ok(()) };
    }
    if !type_fits(&schema["type"], value) {
        return Err(format!("{at}: {value} is not of type {}", schema["type"]));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        return Err(format!("{at}: {value} is none of {values:?}"));
    }
    match value {
        Value::Object(members) if schema.get("properties").is_some() || schema.get("allOf").is_some() => {
            let (mut known, mut required) = (Vec::new(), Vec::new());
            collect(api, schema, &mut known, &mut required);
            for (name, member) in members {
                let place = format!("{at}.{name}");
                let (_, schema) =
                    known.iter().find(|(known, _)| known == name).ok_or(format!("{place} is undescribed"))?;
                fits(api, schema, member, &place)?;
            }
            match required.iter().find(|name| !members.contains_key(*name)) {
                Some(name) => Err(format!("{at}.{name} is missing")),
                None => Ok(()),
            }
        }
        Value::Array(items) => {
            let each =
                items.iter().enumerate().map(|(n, item)| fits(api, &schema["items"], item, &format!("{at}[{n}]")));
            each.collect()
        }
        _ => Ok(()),
    }
}

/// The members that an object may have and must have, also those of the parts it is composed of.
fn collect(api: &Value, schema: &Value, known: &mut Vec<(String, Value)>, required: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        collect(api, &api["components"]["schemas"][name], known, required);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect(api, part, known, required);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        known.push((name.clone(), member.clone()));
    }
    required
        .extend(schema["required"].as_array().into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())));
}

fn type_fits(types: &Value, value: &Value) -> bool {
    let one = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    match types {
        Value::String(name) => one(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(one),
        // Composed of parts only.
        _ => true,
    }
}
