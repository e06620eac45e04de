//! The head of a trace from the fields beside its steps.

use super::record::{Bad, Out};
use super::tool_input::too_deep;
use crate::json::{Json, Object, Value};
use crate::trace::TraceHead;

/// Collects a head field by field.
#[derive(Default)]
pub(crate) struct HeadBuilder {
    head: TraceHead,
    facts: Object,
    extra: Vec<(String, Json)>,
}

impl HeadBuilder {
    /// The id where it was recorded. A number is taken as its digits; null and an empty string are no id.
    pub(crate) fn external_id(&mut self, field: &str, id: Json) -> Result<(), Bad> {
        match id {
            Json::Text(id) if !id.is_empty() => self.head.external_id = Some(id),
            Json::Number(number) => self.head.external_id = Some(number.to_string()),
            Json::Null | Json::Text(_) => {}
            other => return Err(Bad::new(field, format!("must be a string, not {}", other.kind()))),
        }
        Ok(())
    }

    pub(crate) fn has_external_id(&self) -> bool {
        self.head.external_id.is_some()
    }

    /// A title that came with the trace. Null and an empty string are no title.
    pub(crate) fn title(&mut self, title: Json) -> Result<(), Bad> {
        match title {
            Json::Text(title) => self.head.title = Some(title).filter(|title| !title.is_empty()),
            Json::Null => {}
            other => return Err(Bad::new("title", format!("must be a string, not {}", other.kind()))),
        }
        Ok(())
    }

    /// The trace's own metadata.
    pub(crate) fn metadata(&mut self, metadata: Json) -> Result<(), Bad> {
        match metadata {
            deep if deep.is_too_deep() => return Err(too_deep().within("metadata")),
            Json::Object(fields) => self.head.metadata = Object::from(fields),
            Json::Null => {}
            other => return Err(Bad::new("metadata", format!("must be an object, not {}", other.kind()))),
        }
        Ok(())
    }

    /// A fact that has a name of its own in metadata, unless the metadata names it already.
    pub(crate) fn fact(&mut self, name: &str, value: Json) {
        if value != Json::Null {
            self.facts.insert(name, value);
        }
    }

    /// Any other field; it is kept under `metadata.extra`, at its path.
    pub(crate) fn extra(&mut self, path: Vec<String>, value: Json) -> Result<(), Bad> {
        if value.is_too_deep() {
            return Err(too_deep().within(&path.join(".")));
        }
        if value != Json::Null {
            insert_at(&mut self.extra, path, value);
        }
        Ok(())
    }

    /// The head.
    pub(crate) fn finish(mut self, out: &mut Out<'_>) -> TraceHead {
        let metadata = &mut self.head.metadata;
        metadata.fill(self.facts);
        if !self.extra.is_empty() {
            match metadata.get_or_insert("extra", || Object::new().into()) {
                Value::Object(extra) => {
                    let more = Object::from(self.extra);
                    for (name, _) in more.iter().filter(|(name, _)| extra.contains_key(name)) {
                        out.warn(name, "left out: metadata.extra has a field of this name already");
                    }
                    extra.fill(more);
                }
                _ => {
                    let names: Vec<String> = self.extra.into_iter().map(|(name, _)| name).collect();
                    out.warn(
                        "metadata.extra",
                        format!("is no object, so these fields were left out: {}", names.join(", ")),
                    );
                }
            }
        }
        self.head
    }
}

/// Puts a value where its path says, making the objects on the way.
fn insert_at(fields: &mut Vec<(String, Json)>, path: Vec<String>, value: Json) {
    let mut fields = fields;
    let mut path = path.into_iter().peekable();
    while let Some(key) = path.next() {
        if path.peek().is_none() {
            fields.push((key, value));
            return;
        }
        let at = fields.iter().position(|(name, held)| *name == key && matches!(held, Json::Object(_)));
        let at = at.unwrap_or_else(|| {
            fields.push((key, Json::Object(Vec::new())));
            fields.len() - 1
        });
        let Some((_, Json::Object(inner))) = fields.get_mut(at) else { return };
        fields = inner;
    }
}
