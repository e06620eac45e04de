//! CRC-64-AVRO fingerprints of schemas in Parsing Canonical Form, as the Avro specification (1.12, "Transforming into Parsing
//! Canonical Form" and "Schema Fingerprints") defines them.
//!
//! Ours and not the Avro library's: that one writes `{"type":"long"}` where the specification says `"long"` and keeps a few keys
//! that must go, so its fingerprints differ from Java's and Python's, and they could change with a release. What stands in the
//! log for good must depend on the specification alone.

use serde_json::Value;

/// The fingerprint of the empty string, and the polynomial.
const EMPTY: u64 = 0xc15d_213a_a4d7_a795;

const TABLE: [u64; 256] = table();

const fn table() -> [u64; 256] {
    let mut table = [0_u64; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u64;
        let mut bit = 0;
        while bit < 8 {
            value = (value >> 1) ^ (EMPTY & (value & 1).wrapping_neg());
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

/// CRC-64-AVRO of these bytes.
pub fn crc64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(EMPTY, |state, byte| (state >> 8) ^ TABLE[((state ^ u64::from(*byte)) & 0xff) as usize])
}

/// The fingerprint of a schema given as JSON.
pub fn of(schema: &Value) -> u64 {
    crc64(canonical_form(schema).as_bytes())
}

/// The Parsing Canonical Form of a valid schema.
///
/// Parts that are no schema give text that means nothing, never a panic: validity is the parser's business.
pub fn canonical_form(schema: &Value) -> String {
    let mut text = String::new();
    write_schema(schema, "", &mut text);
    text
}

const PRIMITIVES: [&str; 8] = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"];

/// Writes one schema; `namespace` is the enclosing one, which names without a dot take.
fn write_schema(schema: &Value, namespace: &str, out: &mut String) {
    match schema {
        Value::String(name) if PRIMITIVES.contains(&name.as_str()) => write_string(name, out),
        Value::String(name) => write_string(&full_name(name, namespace), out),
        Value::Array(branches) => write_list(branches, out, |branch, out| write_schema(branch, namespace, out)),
        Value::Object(map) => match map.get("type").and_then(Value::as_str) {
            Some("record" | "error") => {
                let (name, namespace) = defined_name(map, namespace);
                begin_named(&name, "record", out);
                out.push_str(",\"fields\":");
                let fields = map.get("fields").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                write_list(fields, out, |field, out| {
                    out.push_str("{\"name\":");
                    write_string(field.get("name").and_then(Value::as_str).unwrap_or_default(), out);
                    out.push_str(",\"type\":");
                    write_schema(field.get("type").unwrap_or(&Value::Null), &namespace, out);
                    out.push('}');
                });
                out.push('}');
            }
            Some("enum") => {
                begin_named(&defined_name(map, namespace).0, "enum", out);
                out.push_str(",\"symbols\":");
                let symbols = map.get("symbols").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                write_list(symbols, out, |symbol, out| write_string(symbol.as_str().unwrap_or_default(), out));
                out.push('}');
            }
            Some("fixed") => {
                begin_named(&defined_name(map, namespace).0, "fixed", out);
                let size = map.get("size").and_then(Value::as_u64).unwrap_or_default();
                out.push_str(&format!(",\"size\":{size}}}"));
            }
            Some("array") => write_nested(map, "array", "items", namespace, out),
            Some("map") => write_nested(map, "map", "values", namespace, out),
            _ => write_schema(map.get("type").unwrap_or(&Value::Null), namespace, out),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn write_nested(map: &serde_json::Map<String, Value>, kind: &str, key: &str, namespace: &str, out: &mut String) {
    out.push_str(&format!("{{\"type\":\"{kind}\",\"{key}\":"));
    write_schema(map.get(key).unwrap_or(&Value::Null), namespace, out);
    out.push('}');
}

fn begin_named(name: &str, kind: &str, out: &mut String) {
    out.push_str("{\"name\":");
    write_string(name, out);
    out.push_str(&format!(",\"type\":\"{kind}\""));
}

fn write_list(items: &[Value], out: &mut String, mut write: impl FnMut(&Value, &mut String)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}

/// Names of schemas are ASCII letters, digits, underscores and dots, so nothing needs an escape.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// The full name and the namespace that a definition gives to what is inside it.
pub(crate) fn defined_name(map: &serde_json::Map<String, Value>, enclosing: &str) -> (String, String) {
    let name = map.get("name").and_then(Value::as_str).unwrap_or_default();
    let namespace = map.get("namespace").and_then(Value::as_str).unwrap_or(enclosing);
    let full = full_name(name, namespace);
    let inner = full.rsplit_once('.').map_or("", |(namespace, _)| namespace).to_owned();
    (full, inner)
}

/// A name with its namespace; a name with a dot has its own.
pub(crate) fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") }
}
