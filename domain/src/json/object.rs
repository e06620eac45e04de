//! Objects of canonical values: a tool's input, metadata.

use super::{Json, Value};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use std::cmp::Ordering;

/// Names and their values, each name once, in the order of the names; JSON's object.
///
/// Most steps have a field or two here, and steps are held by the hundred thousand. A map of serde_json takes 632 bytes for its
/// first field, since its nodes have room for eleven; this list takes 56 for each, and what the name and the value take.
/// What comes with very many names goes in at once ([`Object::fill`], [`Object::append`], collecting), since one more in the
/// middle moves all behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Value)>);

impl Object {
    /// One without fields.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// One field.
    pub fn of(name: impl Into<String>, value: impl Into<Value>) -> Self {
        Self(vec![(name.into(), value.into())])
    }

    /// Whether it has no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Itself, unless it has no fields.
    pub fn some(self) -> Option<Self> {
        (!self.is_empty()).then_some(self)
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let at = self.place(name).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// The value of this name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let at = self.place(name).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Whether there is a value of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    /// Sets a value, whatever stood there.
    pub fn insert(&mut self, name: &str, value: impl Into<Value>) {
        match self.get_mut(name) {
            Some(there) => *there = value.into(),
            None => self.insert_missing(name, || value.into()),
        }
    }

    /// The value of this name; where there is none, this one is set.
    pub fn get_or_insert(&mut self, name: &str, value: impl FnOnce() -> Value) -> &mut Value {
        let at = self.place(name).unwrap_or_else(|at| {
            self.put(at, name, value());
            at
        });
        &mut self.0[at].1
    }

    /// Sets a value where there is none.
    pub fn insert_missing(&mut self, name: &str, value: impl FnOnce() -> Value) {
        if let Err(at) = self.place(name) {
            self.put(at, name, value());
        }
    }

    /// Takes a value out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.place(name).ok()?;
        Some(self.0.remove(at).1)
    }

    /// Takes more fields in; where a name is in both, the new value stands.
    pub fn append(&mut self, more: Self) {
        *self = match (std::mem::take(self), more) {
            (held, more) if more.is_empty() => held,
            (held, more) if held.is_empty() => more,
            (held, more) => held.into_iter().chain(more).collect(),
        };
    }

    /// Takes more fields in; where a name is in both, the value that is there stands.
    pub fn fill(&mut self, more: Self) {
        let held = std::mem::replace(self, more);
        self.append(held);
    }

    /// The fields, in order.
    pub fn iter(&self) -> Fields<'_> {
        self.into_iter()
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// About how many bytes of memory its fields take.
    pub fn bytes_held(&self) -> usize {
        self.iter().map(|(name, value)| size_of::<String>() + name.len() + value.bytes_held()).sum()
    }

    /// Whether any text does, names included.
    pub(crate) fn any_text(&self, does: &impl Fn(&str) -> bool) -> bool {
        self.iter().any(|(name, value)| does(name) || value.any_text(does))
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(there, _)| there.as_str().cmp(name))
    }

    fn put(&mut self, at: usize, name: &str, value: Value) {
        // Room for this one alone while there are few, as there nearly always are.
        if self.0.len() < 4 {
            self.0.reserve_exact(1);
        }
        self.0.insert(at, (name.to_owned(), value));
    }
}

impl FromIterator<(String, Value)> for Object {
    /// Of a name that comes twice the last value stands.
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
        if !fields.is_sorted_by(|(a, _), (b, _)| a.cmp(b) == Ordering::Less) {
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            // The last of those that are equal comes to stand first, and the others go.
            fields.dedup_by(|later, first| {
                let same = later.0 == first.0;
                if same {
                    std::mem::swap(&mut later.1, &mut first.1);
                }
                same
            });
        }
        fields.shrink_to_fit();
        Self(fields)
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The fields of an [`Object`], in order.
pub type Fields<'m> = std::iter::Map<std::slice::Iter<'m, (String, Value)>, fn(&(String, Value)) -> (&String, &Value)>;

impl<'m> IntoIterator for &'m Object {
    type Item = (&'m String, &'m Value);
    type IntoIter = Fields<'m>;

    fn into_iter(self) -> Fields<'m> {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

impl From<Vec<(String, Json)>> for Object {
    fn from(fields: Vec<(String, Json)>) -> Self {
        fields.into_iter().map(|(name, value)| (name, value.into())).collect()
    }
}

impl From<Map<String, serde_json::Value>> for Object {
    fn from(fields: Map<String, serde_json::Value>) -> Self {
        fields.into_iter().map(|(name, value)| (name, value.into())).collect()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::Object(fields) => Ok(fields.into()),
            other => Err(Error::custom(format_args!("expected an object, not {}", other.kind()))),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn fields() -> impl Strategy<Value = Vec<(String, u8)>> {
        proptest::collection::vec(("[a-e]{0,2}", any::<u8>()), 0..20)
    }

    fn object(fields: &[(String, u8)]) -> Object {
        fields.iter().map(|(name, value)| (name.clone(), json!(value).into())).collect()
    }

    fn map(fields: &[(String, u8)]) -> Map<String, serde_json::Value> {
        fields.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
    }

    proptest! {
        /// It says what a map says, whatever is done with it.
        #[test]
        fn it_is_a_map(first in fields(), more in fields(), name in "[a-e]{0,2}") {
            let (mut held, mut model) = (object(&first), map(&first));
            prop_assert_eq!(json!(held), json!(model));
            prop_assert_eq!(json!(held.get(&name)), json!(model.get(&name)));
            prop_assert_eq!(held.contains_key(&name), model.contains_key(&name));

            let mut filled = held.clone();
            filled.fill(object(&more));
            let mut expected = map(&more);
            expected.extend(model.clone());
            prop_assert_eq!(json!(filled), json!(expected));

            held.append(object(&more));
            model.extend(map(&more));
            prop_assert_eq!(json!(held), json!(model));

            held.insert(&name, 7_u64);
            model.insert(name.clone(), json!(7));
            prop_assert_eq!(json!(held), json!(model));
            held.insert_missing(&name, || Value::from(8_u64));
            prop_assert_eq!(held.get(&name), Some(&Value::from(7_u64)));

            prop_assert_eq!(json!(held.remove(&name)), json!(model.remove(&name)));
            held.insert_missing(&name, || Value::from(9_u64));
            model.insert(name.clone(), json!(9));
            prop_assert_eq!(&serde_json::from_value::<Object>(json!(model)).unwrap(), &held);
            prop_assert_eq!(Object::from(model), held);
        }
    }
}
