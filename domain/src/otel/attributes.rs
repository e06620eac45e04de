//! Attributes: names with typed values, in their order.
//!
//! A structure may be one attribute, or many whose names are paths into it (`a.0.b`). [`Attributes::value`] reads both.

use super::paths::{PATH_STEPS_MAX, tree};
use crate::json::Json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Attributes kept of a resource and its scope together; beyond, and those with a name or a value of more than
/// [`CONTEXT_VALUE_BYTES_MAX`] as JSON, are left out, because every span carries them.
pub const CONTEXT_ATTRIBUTES_MAX: usize = 32;

/// See [`CONTEXT_ATTRIBUTES_MAX`].
pub const CONTEXT_VALUE_BYTES_MAX: usize = 256;

/// Fields of an object or items of a list that become paths, each of which takes some hundred bytes beside its value.
const FLAT_MAX: usize = 1_000;

/// Memory of a part of JSON, about.
const PART_BYTES: usize = 64;

fn is_small((name, value): &(String, Json)) -> bool {
    name.len() <= CONTEXT_VALUE_BYTES_MAX && value.compact().len() <= CONTEXT_VALUE_BYTES_MAX
}

/// Attributes of a span, an event, a log record, or of where they come from.
///
/// Values are plain JSON. Two of the protocol's types have none of their own: see [`double`] and [`BYTES`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(pub Vec<(String, Json)>);

/// What stands for a value of bytes, which are not kept.
pub const BYTES: &str = "[file]";

/// A floating-point value; text for NaN and the infinities, which are no numbers in JSON.
pub fn double(value: f64) -> Json {
    Number::from_f64(value).map_or_else(|| Json::Text(value.to_string()), Json::Number)
}

/// Where spans or records come from, shared by all that come from there.
pub type Context = Arc<Attributes>;

/// For `#[serde(with)]`.
pub(super) mod shared {
    use super::{Attributes, Context};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::otel) fn is_empty(context: &Context) -> bool {
        context.is_empty()
    }

    pub(in crate::otel) fn serialize<S: Serializer>(context: &Context, serializer: S) -> Result<S::Ok, S::Error> {
        context.as_ref().serialize(serializer)
    }

    pub(in crate::otel) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Context, D::Error> {
        Attributes::deserialize(deserializer).map(Context::new)
    }
}

impl Attributes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a name; of one that stands twice, the last. Null counts as absent.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let found = self.0.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value);
        found.filter(|value| **value != Json::Null)
    }

    /// The text of a name; empty text counts as absent.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text().filter(|text| !text.is_empty())
    }

    /// The value of a name, or the structure that all names below it spell out: `a.0.b` = 1 gives `[{"b": 1}]` for `a`.
    /// Numbers count as indices and are put in their order; gaps close.
    pub fn value(&self, name: &str) -> Option<Json> {
        self.held(name).map(Cow::into_owned)
    }

    /// The same, not copied where it is one attribute.
    pub(crate) fn held(&self, name: &str) -> Option<Cow<'_, Json>> {
        self.get(name).map(Cow::Borrowed).or_else(|| self.tree(name).map(Cow::Owned))
    }

    /// The structure that all names below a name spell out, whatever the name itself has.
    pub fn tree(&self, name: &str) -> Option<Json> {
        tree(self.below(name))
    }

    /// All names below a name, as paths from there, with their values.
    fn below<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, &'a Json)> {
        self.0.iter().filter_map(move |(key, value)| {
            Some((key.strip_prefix(name)?.strip_prefix('.').filter(|path| !path.is_empty())?, value))
        })
    }

    /// What a span carries of its resource and scope: their attributes, small ones and not too many, and the scope's name and
    /// version as `otel.scope.name` and `otel.scope.version`.
    pub fn context(resource: Self, scope_name: &str, scope_version: &str, scope: Self) -> Context {
        let named = [("otel.scope.name", scope_name), ("otel.scope.version", scope_version)];
        let named = named.into_iter().filter(|(_, text)| !text.is_empty());
        let named = named.map(|(name, text)| (name.to_owned(), Json::Text(text.to_owned())));
        let all = named.chain(resource.0).chain(scope.0);
        Context::new(Self(all.filter(is_small).take(CONTEXT_ATTRIBUTES_MAX).collect()))
    }

    /// As many as a [`Context`] has of a resource at most. A resource may have many scopes.
    pub(super) fn small(&self) -> Self {
        Self(self.0.iter().filter(|entry| is_small(entry)).take(CONTEXT_ATTRIBUTES_MAX).cloned().collect())
    }

    /// About how many bytes of memory they take.
    pub(crate) fn bytes_held(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.bytes_held()).sum()
    }

    /// What they count as where each span has its own, as it does where spans are kept: see
    /// [`JSON_PARTS_FREE`](crate::limits::JSON_PARTS_FREE).
    pub(super) fn parts(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.bytes_held() + 24).sum::<usize>() / PART_BYTES
    }

    /// Attributes from a nested object: objects and arrays of objects become paths, unless they have more than [`FLAT_MAX`] parts;
    /// everything else is a value.
    pub(crate) fn flattened(nested: Vec<(String, Json)>) -> Self {
        let mut flat = Vec::new();
        nested.into_iter().for_each(|(key, value)| flatten(key, value, PATH_STEPS_MAX, &mut flat));
        Self(flat)
    }
}

fn flatten(path: String, value: Json, steps_left: usize, flat: &mut Vec<(String, Json)>) {
    let Some(steps_left) = steps_left.checked_sub(1) else { return flat.push((path, value)) };
    match value {
        Json::Object(fields) if (1..=FLAT_MAX).contains(&fields.len()) => {
            fields.into_iter().for_each(|(key, value)| flatten(format!("{path}.{key}"), value, steps_left, flat));
        }
        Json::List(items) if items.len() <= FLAT_MAX && items.iter().any(|item| matches!(item, Json::Object(_))) => {
            let items = items.into_iter().enumerate();
            items.for_each(|(n, item)| flatten(format!("{path}.{n}"), item, steps_left, flat));
        }
        value => flat.push((path, value)),
    }
}

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Attributes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of attributes")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attributes, A::Error> {
                let mut attributes = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    attributes.push(entry);
                }
                Ok(Attributes(attributes))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(text: &str) -> Attributes {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn paths_spell_out_structures_in_the_order_of_numbers() {
        let found = attributes(r#"{"m.10.t":"c","m.2.t":"b","m.0.t":"a","m.0.r":"x","mm":1,"m":null,"n.a":{"b":[1]}}"#);
        assert_eq!(found.value("m").unwrap().compact(), r#"[{"t":"a","r":"x"},{"t":"b"},{"t":"c"}]"#);
        assert_eq!(found.value("n").unwrap().compact(), r#"{"a":{"b":[1]}}"#);
        assert_eq!(found.value("m.0.t").unwrap().compact(), r#""a""#);
        assert_eq!(found.value("x"), None);
    }

    #[test]
    fn a_list_that_is_not_flattened_reads_the_same() {
        for count in [FLAT_MAX, FLAT_MAX + 1] {
            let items = vec![r#"{"a":{"b":1}}"#; count].join(",");
            let nested: Json = serde_json::from_str(&format!(r#"{{"llm":{{"m":[{items}],"n":"x"}}}}"#)).unwrap();
            let Json::Object(fields) = nested.clone() else { panic!("an object") };
            let flat = Attributes::flattened(fields);
            assert_eq!(flat.0.len(), if count > FLAT_MAX { 2 } else { count + 1 });
            assert_eq!(flat.value("llm"), nested.get("llm").cloned());
            assert_eq!(flat.value("llm.m").as_ref(), nested.get("llm").and_then(|llm| llm.get("m")));
        }
    }

    #[test]
    fn flattening_and_reading_are_inverse() {
        let nested: Json = serde_json::from_str(r#"{"llm":{"m":[{"a":{"b":1}},{"a":[1,2]}],"n":"x","e":{}}}"#).unwrap();
        let Json::Object(fields) = nested.clone() else { panic!() };
        let flat = Attributes::flattened(fields);
        assert_eq!(flat.get("llm.m.0.a.b").unwrap().compact(), "1");
        assert_eq!(flat.value("llm"), nested.get("llm").cloned());
    }

    #[test]
    fn the_context_is_small() {
        let many = |n: usize| Attributes((0..n).map(|n| (format!("k{n}"), Json::Null)).collect());
        let large = Attributes(vec![("large".to_owned(), Json::Text("x".repeat(CONTEXT_VALUE_BYTES_MAX)))]);
        let context = Attributes::context(large, "lib", "1", many(100));
        assert_eq!(context.0.len(), CONTEXT_ATTRIBUTES_MAX);
        assert_eq!(context.text("otel.scope.name"), Some("lib"));
        assert_eq!(context.get("large"), None);
    }
}
