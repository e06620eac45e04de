//! Values of metadata entries, as far as they are used.

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Of any of the integer types.
    Integer(i128),
    /// Of either float type.
    Float(f64),
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
    /// Several values of one type.
    Array(Array),
}

/// Several values of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Array {
    /// Texts.
    Texts(Vec<String>),
    /// 32-bit integers.
    Numbers(Vec<u32>),
    /// Anything else: passed over.
    Other,
}

impl Value {
    /// As a count or an id.
    pub fn unsigned(&self) -> Option<u64> {
        match self {
            Self::Integer(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// As a number.
    pub fn float(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// As true or false.
    pub fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(value) => Some(*value),
            _ => None,
        }
    }

    /// As a text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }

    /// As texts.
    pub fn texts(&self) -> Option<&[String]> {
        match self {
            Self::Array(Array::Texts(values)) => Some(values),
            _ => None,
        }
    }

    /// As 32-bit integers.
    pub fn numbers(&self) -> Option<&[u32]> {
        match self {
            Self::Array(Array::Numbers(values)) => Some(values),
            _ => None,
        }
    }
}
