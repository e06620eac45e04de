//! The schema that an answer must have: a part of JSON Schema, checked here, and put into what each provider takes.
//!
//! Its text is kept as it was written: models write fields in the schema's order, so reasons can stand before verdicts, and
//! providers cache what they make of a schema by its bytes.
//!
//! What may stand in one: `type` (also several), `properties`, `required`, `additionalProperties: false`, `items`, `enum`,
//! `const`, `anyOf`, `minItems`, `maxItems`, `minLength`, `maxLength`, `minimum`, `maximum`, `title`, `description`.

mod check;
mod node;
mod strict;

use node::Node;
use serde_json::Value;

/// Bytes of a schema's text.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// A schema that cannot be used. A fault of whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema of an answer cannot be used: {0}")]
pub struct BadSchema(String);

/// The schema of an answer.
#[derive(Clone, PartialEq, Eq)]
pub struct AnswerSchema {
    name: &'static str,
    text: String,
    strict: String,
    root: Node,
}

impl AnswerSchema {
    /// Reads a schema. `name` is what its answers are called: letters, digits, `_` and `-`.
    ///
    /// # Errors
    /// [`BadSchema`] for text that is no schema of the part that is known here.
    pub fn new(name: &'static str, text: &str) -> Result<Self, BadSchema> {
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(BadSchema(format!("it has more than {SCHEMA_BYTES_MAX} bytes")));
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if name.is_empty() || name.len() > 64 || !name.bytes().all(is_name) {
            return Err(BadSchema("its name is none".to_owned()));
        }
        let root: Node = serde_json::from_str(text).map_err(|error| BadSchema(error.to_string()))?;
        strict::understand(&root, "$")?;
        if root.get("type").and_then(Node::as_str) != Some("object") {
            return Err(BadSchema("an answer must be an object".to_owned()));
        }
        let strict = strict::of(&root).to_string();
        Ok(Self { name, text: root.to_string(), strict, root })
    }

    /// What its answers are called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The schema, whole: for instructions, and for whoever is shown it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The schema as servers take it that hold a model to it: objects closed, all fields required, and bounds that they do not
    /// know put into words.
    pub fn strict_text(&self) -> &str {
        &self.strict
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// What is wrong first, by the place of the field and without its content.
    pub fn check(&self, answer: &Value) -> Result<(), String> {
        check::check(&self.root, answer, "$")
    }
}

impl std::fmt::Debug for AnswerSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnswerSchema({})", self.name)
    }
}

#[cfg(test)]
mod tests;
