//! Canonical values.

use super::{Json, Object};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

/// A value in whose objects each key stands once, and in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number, in its digits.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object.
    Object(Object),
}

impl Value {
    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The field of an object.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// About how many bytes of memory it takes.
    pub fn bytes_held(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Null | Self::Bool(_) => 0,
                Self::Number(number) => number.as_str().len(),
                Self::Text(text) => text.len(),
                Self::List(items) => items.iter().map(Self::bytes_held).sum(),
                Self::Object(object) => object.bytes_held(),
            }
    }

    /// Whether any text of it does, names of fields included.
    pub(crate) fn any_text(&self, does: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => false,
            Self::Text(text) => does(text),
            Self::List(items) => items.iter().any(|item| item.any_text(does)),
            Self::Object(object) => object.any_text(does),
        }
    }
}

impl From<Json> for Value {
    /// Lists are collected into the memory that they had: no more is taken for it.
    fn from(written: Json) -> Self {
        match written {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => Self::Number(number),
            Json::Text(text) => Self::Text(text),
            Json::List(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Json::Object(fields) => Self::Object(fields.into()),
        }
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => Self::Number(number),
            serde_json::Value::String(text) => Self::Text(text),
            serde_json::Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(fields) => Self::Object(fields.into()),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::List(items.into_iter().collect())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    /// Without a bound on its parts: for what was counted when it was first read.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Json::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// JSON of any form, with keys in any order and more than once.
    fn written() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(|number| Json::Number(number.into())),
            Just(Json::Number("1.50".parse().unwrap_or_else(|_| 0.into()))),
            ".{0,3}".prop_map(Json::Text),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::List),
                prop::collection::vec(("[a-d]", inner), 0..6).prop_map(Json::Object),
            ]
        })
    }

    proptest! {
        /// It says what serde_json's value says, whose objects are sorted and hold each key once, the last of its values.
        #[test]
        fn it_is_the_value_of_its_text(written in written()) {
            let text = written.compact();
            let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
            let value = Value::from(written);
            prop_assert_eq!(serde_json::to_string(&value).unwrap(), expected.to_string());
            prop_assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), &value);
            prop_assert_eq!(Value::from(expected), value);
        }
    }

    #[test]
    fn no_memory_is_taken_for_it() {
        let Json::List(items) = serde_json::from_str("[[1],[2],{\"b\":1,\"a\":[]}]").unwrap() else { panic!("a list") };
        let held = items.as_ptr().addr();
        let Value::List(values) = Value::from(Json::List(items)) else { panic!("a list") };
        assert_eq!(values.as_ptr().addr(), held);
        let Json::Object(fields) = serde_json::from_str("{\"b\":1,\"a\":[]}").unwrap() else { panic!("an object") };
        let held = fields.as_ptr().addr();
        let object = Object::from(fields);
        assert_eq!(object.iter().next().map(|(name, _)| std::ptr::from_ref(name).addr()), Some(held));
        assert_eq!(json!(object), json!({"a": [], "b": 1}));
    }
}
