//! Gate 1: every two versions of a family read each other, fully.
//!
//! Both ways, since a rolling upgrade has old readers of new events, and against all versions, since the log keeps them all.
//! `Partial` (it may work, depending on the value) is a failure: it breaks in production, on the first such value.

use super::{Fault, SchemaFile, by_family};
use apache_avro::Schema;
use apache_avro::schema_compatibility::{Compatibility, SchemaCompatibility};

/// The pairs that do not read each other, by the newer file.
pub fn check(files: &[SchemaFile<'_>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for versions in by_family(files).into_values() {
        let mut earlier: Vec<(&SchemaFile<'_>, Schema)> = Vec::new();
        for file in versions {
            match Schema::parse_str(file.text) {
                Err(error) => faults.push(Fault::new(file.path(), format!("no valid schema: {error}"))),
                Ok(schema) => {
                    for (old, old_schema) in &earlier {
                        faults.extend(pair(file, &schema, old, old_schema));
                    }
                    earlier.push((file, schema));
                }
            }
        }
    }
    faults
}

fn pair(new: &SchemaFile<'_>, new_schema: &Schema, old: &SchemaFile<'_>, old_schema: &Schema) -> Vec<Fault> {
    [
        (old_schema, new_schema, format!("does not read all that v{} wrote", old.version)),
        (new_schema, old_schema, format!("v{} does not read all that it writes", old.version)),
    ]
    .into_iter()
    .filter_map(|(writer, reader, what)| match SchemaCompatibility::can_read(writer, reader) {
        Ok(Compatibility::Full) => None,
        Ok(Compatibility::Partial) => Some(Fault::new(new.path(), what)),
        Err(error) => Some(Fault::new(new.path(), format!("{what}: {error}"))),
    })
    .collect()
}
