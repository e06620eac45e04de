//! A digest over the parts of something, each with its length or a mark of its kind, so that no two things feed the same bytes.

use super::Attributes;
use crate::json::Json;
use sha2::{Digest as _, Sha256};

/// What is fed so far.
#[derive(Default)]
pub(super) struct Feed(Sha256);

impl Feed {
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn number(&mut self, number: u64) {
        self.bytes(&number.to_be_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    pub(super) fn attributes(&mut self, attributes: &Attributes) {
        self.fields(&attributes.0);
    }

    /// The first eight bytes of the digest; never 0.
    pub(super) fn first(self) -> u64 {
        let digest = self.0.finalize();
        let first: [u8; 8] = std::array::from_fn(|n| digest.get(n).copied().unwrap_or(0));
        u64::from_be_bytes(first).max(1)
    }

    fn fields(&mut self, fields: &[(String, Json)]) {
        self.number(fields.len() as u64);
        for (name, value) in fields {
            self.text(name);
            self.value(value);
        }
    }

    fn value(&mut self, value: &Json) {
        match value {
            Json::Null => self.bytes(b"0"),
            Json::Bool(false) => self.bytes(b"f"),
            Json::Bool(true) => self.bytes(b"t"),
            Json::Number(number) => {
                self.bytes(b"n");
                self.text(number.as_str());
            }
            Json::Text(text) => {
                self.bytes(b"s");
                self.text(text);
            }
            Json::List(items) => {
                self.bytes(b"l");
                self.number(items.len() as u64);
                items.iter().for_each(|item| self.value(item));
            }
            Json::Object(fields) => {
                self.bytes(b"o");
                self.fields(fields);
            }
        }
    }
}
