//! What servers take that hold a model to a schema.
//!
//! They take no bounds on numbers, lengths and counts, close every object and require every field. So bounds go into the
//! description, where the model at least reads them, and the check here holds it to them.

use super::BadSchema;
use super::node::Node;
use serde_json::Value;

/// Nesting of a schema.
const DEPTH_MAX: usize = 16;

const KNOWN: [&str; 15] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "description",
];

/// Bounds, and how they are put into words.
const BOUNDS: [(&str, &str); 6] = [
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
];

/// Refuses what would not be checked.
pub(super) fn understand(schema: &Node, path: &str) -> Result<(), BadSchema> {
    let refuse = |what: &str| Err(BadSchema(format!("{path}: {what}")));
    let Node::Object(fields) = schema else { return refuse("a schema is an object") };
    if path.matches('.').count() > DEPTH_MAX {
        return refuse("it is nested too deeply");
    }
    if let Some((name, _)) = fields.iter().find(|(name, _)| !KNOWN.contains(&name.as_str()) && name != "title") {
        return refuse(&format!("{name} is not known here"));
    }
    let properties = schema.get("properties").map_or(&[][..], Node::fields);
    for required in schema.get("required").map_or(&[][..], Node::items) {
        if !properties.iter().any(|(name, _)| Some(name.as_str()) == required.as_str()) {
            return refuse("a required field is not among the properties");
        }
    }
    for (name, bound) in fields.iter().filter(|(name, _)| BOUNDS.iter().any(|(bound, _)| bound == name)) {
        if bound.as_f64().is_none() {
            return refuse(&format!("{name} is no number"));
        }
    }
    for (name, property) in properties {
        understand(property, &format!("{path}.{name}"))?;
    }
    if let Some(items) = schema.get("items") {
        understand(items, &format!("{path}.[]"))?;
    }
    for any in schema.get("anyOf").map_or(&[][..], Node::items) {
        understand(any, &format!("{path}.?"))?;
    }
    Ok(())
}

/// The schema for such servers.
pub(super) fn of(schema: &Node) -> Node {
    let mut fields = Vec::new();
    let mut words = Vec::new();
    for (name, value) in schema.fields() {
        let value = match name.as_str() {
            "additionalProperties" | "required" | "title" => continue,
            "description" => {
                words.insert(0, value.as_str().unwrap_or_default().to_owned());
                continue;
            }
            "properties" => {
                Node::Object(value.fields().iter().map(|(name, property)| (name.clone(), of(property))).collect())
            }
            "items" => of(value),
            "anyOf" => Node::Array(value.items().iter().map(of).collect()),
            bound => match BOUNDS.iter().find(|(name, _)| *name == bound) {
                Some((_, text)) => {
                    words.push(text.replace("{}", &value.to_string()));
                    continue;
                }
                None => value.clone(),
            },
        };
        fields.push((name.clone(), value));
    }
    if let Some(properties) = schema.get("properties") {
        let names = properties.fields().iter().map(|(name, _)| Node::text(name.as_str())).collect();
        fields.push(("required".to_owned(), Node::Array(names)));
        fields.push(("additionalProperties".to_owned(), Node::Plain(Value::Bool(false))));
    }
    if !words.is_empty() {
        fields.push(("description".to_owned(), Node::text(words.join("; "))));
    }
    Node::Object(fields)
}
