//! Gate 3: a new version adds fields and changes nothing else.
//!
//! Compared as JSON, with names resolved, so that what the Avro library's model drops or equates is seen too: logical types and
//! their parameters, defaults, aliases, sort orders, sizes, unknown attributes. Allowed between a version and the next:
//! - other documentation;
//! - new fields at the end of a record, each with a default.
//!
//! Within each file: everything has documentation, and a union is `["null", T]` with default null, since no other union can ever
//! grow compatibly.

use super::{Fault, SchemaFile, by_family};
use crate::fingerprint::{defined_name, full_name};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Keys that are compared by themselves or, as documentation, not at all.
const KEYS_APART: [&str; 8] = ["type", "name", "namespace", "doc", "fields", "items", "values", "symbols"];

/// Checks each file by itself and against the version before it.
pub fn check(files: &[SchemaFile<'_>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for versions in by_family(files).into_values() {
        let mut before: Option<Tree> = None;
        for file in versions {
            let mut found = Vec::new();
            match Tree::parse(file.text) {
                Err(error) => found.push(format!("no JSON: {error}")),
                Ok(tree) => {
                    check_rules(&tree.root, "", "", &mut found);
                    if let Some(before) = &before {
                        Comparison { before, after: &tree, seen: BTreeSet::new(), found: &mut found }.run();
                    }
                    before = Some(tree);
                }
            }
            faults.extend(found.into_iter().map(|what| Fault::new(file.path(), what)));
        }
    }
    faults
}

/// A schema with its definitions by full name.
struct Tree {
    root: Value,
    definitions: BTreeMap<String, (Map<String, Value>, String)>,
}

/// A place in a schema with all references followed: what stands there, and the namespace inside it.
enum Place<'t> {
    Union(&'t [Value]),
    Type { kind: &'t str, name: Option<String>, map: Option<&'t Map<String, Value>>, namespace: String },
}

impl Tree {
    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let root: Value = serde_json::from_str(text)?;
        let mut definitions = BTreeMap::new();
        collect(&root, "", &mut definitions);
        Ok(Self { root, definitions })
    }

    fn resolve<'t>(&'t self, schema: &'t Value, namespace: &str) -> Place<'t> {
        match schema {
            Value::Array(branches) => Place::Union(branches),
            Value::String(name) => match self.definitions.get(&full_name(name, namespace)) {
                Some((map, inner)) => Place::Type {
                    kind: kind_of(map),
                    name: Some(full_name(name, namespace)),
                    map: Some(map),
                    namespace: inner.clone(),
                },
                None => Place::Type { kind: name, name: None, map: None, namespace: namespace.to_owned() },
            },
            Value::Object(map) if map.contains_key("name") => {
                let (name, inner) = defined_name(map, namespace);
                Place::Type { kind: kind_of(map), name: Some(name), map: Some(map), namespace: inner }
            }
            Value::Object(map) => match map.get("type") {
                Some(inner @ (Value::Object(_) | Value::Array(_))) => self.resolve(inner, namespace),
                _ => Place::Type { kind: kind_of(map), name: None, map: Some(map), namespace: namespace.to_owned() },
            },
            _ => Place::Type { kind: "", name: None, map: None, namespace: namespace.to_owned() },
        }
    }
}

/// The rules for a file by itself. Definitions are visited where they stand, references are not followed.
fn check_rules(schema: &Value, namespace: &str, path: &str, found: &mut Vec<String>) {
    match schema {
        Value::Array(branches) => branches.iter().for_each(|branch| check_rules(branch, namespace, path, found)),
        Value::Object(map) => {
            let (name, inner) = defined_name(map, namespace);
            if map.contains_key("name") && !has_doc(map) {
                found.push(format!("{name}: has no documentation"));
            }
            for key in ["items", "values", "type"] {
                if let Some(nested) = map.get(key) {
                    check_rules(nested, &inner, path, found);
                }
            }
            for field in fields(map) {
                let path = format!("{path}.{}", field_name(field));
                if !field.as_object().is_some_and(has_doc) {
                    found.push(format!("{}: has no documentation", shown(&path)));
                }
                let schema = field.get("type").unwrap_or(&Value::Null);
                if let Value::Array(branches) = schema
                    && (branches.len() != 2 || branches[0] != "null" || field.get("default") != Some(&Value::Null))
                {
                    found.push(format!("{}: a union must be [\"null\", T] with default null", shown(&path)));
                }
                check_rules(schema, &inner, &path, found);
            }
        }
        _ => {}
    }
}

fn collect(schema: &Value, namespace: &str, definitions: &mut BTreeMap<String, (Map<String, Value>, String)>) {
    match schema {
        Value::Array(branches) => branches.iter().for_each(|branch| collect(branch, namespace, definitions)),
        Value::Object(map) => {
            let mut inner = namespace.to_owned();
            if matches!(kind_of(map), "record" | "error" | "enum" | "fixed") {
                let (name, namespace) = defined_name(map, namespace);
                definitions.insert(name, (map.clone(), namespace.clone()));
                inner = namespace;
            }
            for key in ["items", "values", "type"] {
                if let Some(nested) = map.get(key) {
                    collect(nested, &inner, definitions);
                }
            }
            for field in fields(map) {
                collect(field.get("type").unwrap_or(&Value::Null), &inner, definitions);
            }
        }
        _ => {}
    }
}

struct Comparison<'c> {
    before: &'c Tree,
    after: &'c Tree,
    /// Named types compared already: they are reported once, and one that holds itself ends.
    seen: BTreeSet<String>,
    found: &'c mut Vec<String>,
}

impl Comparison<'_> {
    fn run(mut self) {
        let (before, after) = (self.before, self.after);
        self.schema("", &before.root, "", &after.root, "");
    }

    fn report(&mut self, path: &str, what: impl std::fmt::Display) {
        self.found.push(format!("{}: {what}", shown(path)));
    }

    fn schema(&mut self, path: &str, old: &Value, old_namespace: &str, new: &Value, new_namespace: &str) {
        let (before, after) = (self.before, self.after);
        match (before.resolve(old, old_namespace), after.resolve(new, new_namespace)) {
            (Place::Union(old), Place::Union(new)) => {
                if old.len() != new.len() {
                    self.report(path, format!("a union of {} branches became one of {}", old.len(), new.len()));
                }
                for (old, new) in old.iter().zip(new) {
                    self.schema(path, old, old_namespace, new, new_namespace);
                }
            }
            (
                Place::Type { kind: old_kind, name: old_name, map: old_map, namespace: old_inner },
                Place::Type { kind: new_kind, name: new_name, map: new_map, namespace: new_inner },
            ) => {
                if old_kind != new_kind {
                    return self.report(path, format!("type {old_kind} became {new_kind}"));
                }
                if old_name != new_name {
                    let [old, new] = [old_name, new_name].map(Option::unwrap_or_default);
                    return self.report(path, format!("name {old} became {new}"));
                }
                if old_name.is_some_and(|name| !self.seen.insert(name)) {
                    return;
                }
                let empty = Map::new();
                let (old, new) = (old_map.unwrap_or(&empty), new_map.unwrap_or(&empty));
                self.attributes(path, old, new);
                self.symbols(path, old, new);
                self.fields(path, (old, &old_inner), (new, &new_inner));
                for key in ["items", "values"] {
                    if let (Some(old), Some(new)) = (old.get(key), new.get(key)) {
                        self.schema(&format!("{path}[]"), old, &old_inner, new, &new_inner);
                    }
                }
            }
            (Place::Union(_), Place::Type { kind, .. }) => self.report(path, format!("a union became {kind}")),
            (Place::Type { kind, .. }, Place::Union(_)) => self.report(path, format!("{kind} became a union")),
        }
    }

    fn attributes(&mut self, path: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys.into_iter().filter(|key| !KEYS_APART.contains(&key.as_str())) {
            let text = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), Value::to_string);
            if old.get(key) != new.get(key) {
                self.report(path, format!("{key} {} became {}", text(old.get(key)), text(new.get(key))));
            }
        }
    }

    fn symbols(&mut self, path: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        if old.get("symbols") != new.get("symbols") {
            self.report(path, "symbols of the enum changed: use a string where the set may grow");
        }
    }

    fn fields(&mut self, path: &str, old: (&Map<String, Value>, &str), new: (&Map<String, Value>, &str)) {
        let (old_fields, new_fields) = (fields(old.0), fields(new.0));
        for (index, old_field) in old_fields.iter().enumerate() {
            let name = field_name(old_field);
            let path = format!("{path}.{name}");
            match new_fields.iter().position(|field| field_name(field) == name) {
                None => self.report(&path, "was removed or renamed: keep it, even unused"),
                Some(position) => {
                    if position != index {
                        self.report(&path, "moved: new fields go to the end");
                    }
                    let empty = Map::new();
                    let [old_map, new_map] =
                        [old_field, &new_fields[position]].map(|field| field.as_object().unwrap_or(&empty));
                    self.attributes(&path, old_map, new_map);
                    let [old_type, new_type] = [old_map, new_map].map(|map| map.get("type").unwrap_or(&Value::Null));
                    self.schema(&path, old_type, old.1, new_type, new.1);
                }
            }
        }
        for field in new_fields {
            let name = field_name(field);
            if !old_fields.iter().any(|old| field_name(old) == name) && field.get("default").is_none() {
                self.report(&format!("{path}.{name}"), "is new and has no default");
            }
        }
    }
}

/// A path as people read it: field names with dots between them.
fn shown(path: &str) -> &str {
    if path.is_empty() { "(root)" } else { path.trim_start_matches('.') }
}

fn kind_of(map: &Map<String, Value>) -> &str {
    map.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn fields(map: &Map<String, Value>) -> &[Value] {
    map.get("fields").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn field_name(field: &Value) -> &str {
    field.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn has_doc(map: &Map<String, Value>) -> bool {
    map.get("doc").and_then(Value::as_str).is_some_and(|doc| !doc.trim().is_empty())
}
