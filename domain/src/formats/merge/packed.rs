//! Lists and maps of a [`MergeState`](super::MergeState) in few bytes: fixed-width values, as one string of hexadecimal digits.

use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::collections::{BTreeMap, BTreeSet};

/// A value with a fixed form in bytes.
pub(super) trait Packed: Sized {
    fn pack(&self, out: &mut Vec<u8>);
    /// Takes it off the front; none if the bytes are no such value.
    fn unpack(bytes: &mut &[u8]) -> Option<Self>;
}

macro_rules! packed_integer {
    ($($integer:ty),*) => {$(
        impl Packed for $integer {
            fn pack(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }
            fn unpack(bytes: &mut &[u8]) -> Option<Self> {
                let (first, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(Self::from_be_bytes(*first))
            }
        }
    )*};
}
packed_integer!(u8, u32, u64, u128);

impl Packed for bool {
    fn pack(&self, out: &mut Vec<u8>) {
        u8::from(*self).pack(out);
    }
    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        u8::unpack(bytes).map(|byte| byte != 0)
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    fn pack(&self, out: &mut Vec<u8>) {
        self.0.pack(out);
        self.1.pack(out);
    }
    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::unpack(bytes)?, B::unpack(bytes)?))
    }
}

impl<T: Packed> Packed for Vec<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).unwrap_or(u32::MAX).pack(out);
        self.iter().for_each(|item| item.pack(out));
    }
    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        (0..u32::unpack(bytes)?).map(|_| T::unpack(bytes)).collect()
    }
}

impl<T: Packed + Ord> Packed for BTreeSet<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).unwrap_or(u32::MAX).pack(out);
        self.iter().for_each(|item| item.pack(out));
    }
    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        Vec::unpack(bytes).map(|items: Vec<T>| items.into_iter().collect())
    }
}

impl<K: Packed + Ord, V: Packed> Packed for BTreeMap<K, V> {
    fn pack(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).unwrap_or(u32::MAX).pack(out);
        for (key, value) in self {
            key.pack(out);
            value.pack(out);
        }
    }
    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        Vec::unpack(bytes).map(|items: Vec<(K, V)>| items.into_iter().collect())
    }
}

/// For `#[serde(with)]`.
pub(super) fn serialize<T: Packed, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::new();
    value.pack(&mut bytes);
    serializer.serialize_str(&hex::encode(bytes))
}

/// For `#[serde(with)]`.
pub(super) fn deserialize<'de, T: Packed, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = hex::decode(text).map_err(D::Error::custom)?;
    let mut rest = bytes.as_slice();
    let value = T::unpack(&mut rest).filter(|_| rest.is_empty());
    value.ok_or_else(|| D::Error::custom("the bytes are no part of a merge state"))
}
