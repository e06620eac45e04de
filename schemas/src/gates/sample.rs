//! Values for the golden files of a new schema version, made from the schema alone.

use crate::registry::{HEADER_BYTES, MARKER};
use apache_avro::Schema;
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;
use std::collections::HashMap;

/// A value of this schema for a new golden file: every field filled, optional ones present, no two alike where it can be helped.
/// `replace` may put another value at a path such as `actor.kind`.
///
/// # Errors
/// The path of a schema this cannot fill: maps, enums and logical types that no schema here uses.
pub fn sample(schema: &Schema, replace: &dyn Fn(&str) -> Option<Value>) -> Result<Value, String> {
    let mut names = HashMap::new();
    define(schema, &mut names);
    Sampler { names, replace, count: 0 }.value(schema, "")
}

type Names<'s> = HashMap<String, &'s Schema>;

fn define<'s>(schema: &'s Schema, names: &mut Names<'s>) {
    if let Some(name) = schema.name().filter(|_| !matches!(schema, Schema::Ref { .. })) {
        names.insert(name.to_string(), schema);
    }
    match schema {
        Schema::Record(record) => record.fields.iter().for_each(|field| define(&field.schema, names)),
        Schema::Array(array) => define(&array.items, names),
        Schema::Union(union) => union.variants().iter().for_each(|variant| define(variant, names)),
        _ => {}
    }
}

struct Sampler<'s> {
    names: Names<'s>,
    replace: &'s dyn Fn(&str) -> Option<Value>,
    count: u8,
}

impl Sampler<'_> {
    fn value(&mut self, schema: &Schema, path: &str) -> Result<Value, String> {
        if let Some(value) = (self.replace)(path) {
            return Ok(value);
        }
        self.count = self.count.wrapping_add(1);
        let count = self.count;
        Ok(match schema {
            Schema::Null => Value::Null,
            Schema::Boolean => Value::Boolean(true),
            Schema::Int => Value::Int(-i32::from(count)),
            Schema::Long => Value::Long(i64::from(count) << 40),
            Schema::TimestampMicros => Value::TimestampMicros(1_767_225_600_000_000 + i64::from(count)),
            Schema::Float => Value::Float(f32::from(count) + 0.5),
            Schema::Double => Value::Double(f64::from(count) + 0.25),
            Schema::Bytes => Value::Bytes(vec![0, count, 0xff]),
            Schema::String => Value::String(format!("{path} – é, 字")),
            Schema::Uuid(_) => Value::Uuid(uuid::Builder::from_custom_bytes([count; 16]).into_uuid()),
            Schema::Fixed(fixed) => Value::Fixed(fixed.size, vec![count; fixed.size]),
            Schema::Array(array) => {
                Value::Array(vec![self.value(&array.items, path)?, self.value(&array.items, path)?])
            }
            Schema::Union(union) => {
                let index = union.variants().len() - 1;
                Value::Union(index as u32, Box::new(self.value(&union.variants()[index], path)?))
            }
            Schema::Record(record) => {
                let mut fields = Vec::with_capacity(record.fields.len());
                for field in &record.fields {
                    let separator = if path.is_empty() { "" } else { "." };
                    let path = format!("{path}{separator}{}", field.name);
                    fields.push((field.name.clone(), self.value(&field.schema, &path)?));
                }
                Value::Record(fields)
            }
            Schema::Ref { name } => {
                let schema = *self.names.get(&name.to_string()).ok_or_else(|| format!("{path}: unknown {name}"))?;
                self.value(schema, path)?
            }
            _ => return Err(format!("{path}: no sample for this type")),
        })
    }
}

/// A value as a single object under this schema: the bytes of a golden file.
///
/// # Errors
/// The library's message when the value does not fit.
pub fn object(schema: &Schema, fingerprint: u64, value: &Value) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend_from_slice(&MARKER);
    bytes.extend_from_slice(&fingerprint.to_le_bytes());
    let writer = GenericDatumWriter::builder(schema).build().map_err(|error| error.to_string())?;
    writer.write_value_ref(&mut bytes, value).map_err(|error| error.to_string())?;
    Ok(bytes)
}
