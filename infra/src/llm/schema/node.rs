//! JSON whose objects keep the order of their fields.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;
use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// An object, in order.
    Object(Vec<(String, Node)>),
    /// An array.
    Array(Vec<Node>),
    /// Anything else.
    Plain(Value),
}

impl Node {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Plain(Value::String(text.into()))
    }

    pub(super) fn get(&self, field: &str) -> Option<&Self> {
        self.fields().iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }

    /// Fields of an object; none of anything else.
    pub(super) fn fields(&self) -> &[(String, Self)] {
        match self {
            Self::Object(fields) => fields,
            _ => &[],
        }
    }

    /// Items of an array; none of anything else.
    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Plain(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Plain(Value::Number(number)) => number.as_f64(),
            _ => None,
        }
    }

    /// Whether it is the same JSON as a value.
    pub(super) fn is(&self, value: &Value) -> bool {
        match self {
            Self::Plain(plain) => plain == value,
            Self::Array(items) => value.as_array().is_some_and(|values| {
                values.len() == items.len() && items.iter().zip(values).all(|(item, value)| item.is(value))
            }),
            Self::Object(fields) => value.as_object().is_some_and(|values| {
                values.len() == fields.len()
                    && fields.iter().all(|(name, field)| values.get(name).is_some_and(|value| field.is(value)))
            }),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Self::Plain(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nodes;
        impl<'de> Visitor<'de> for Nodes {
            type Value = Node;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Plain(Value::Null))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
                Ok(Node::Plain(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Plain(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
                Ok(Node::Plain(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
                Ok(Node::Plain(value.into()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Node, E> {
                Ok(Node::text(value))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Node::Array(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut fields: Vec<(String, Node)> = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                // serde_json hands over a number as an object of one field where numbers keep all their digits.
                if let [(name, Node::Plain(Value::String(digits)))] = fields.as_slice()
                    && name == "$serde_json::private::Number"
                    && let Ok(number) = serde_json::from_str(digits)
                {
                    return Ok(Node::Plain(number));
                }
                Ok(Node::Object(fields))
            }
        }
        deserializer.deserialize_any(Nodes)
    }
}
