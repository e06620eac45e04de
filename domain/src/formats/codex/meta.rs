//! What a session says of itself.

use super::line::text;
use crate::formats::common::head::HeadBuilder;
use crate::formats::common::record::Out;
use crate::json::{Json, take_field};
use crate::trace::TraceHead;

/// The first meta of a file, and the models its turns ran on.
#[derive(Default)]
pub(super) struct Meta {
    /// A fork begins with its own meta and then repeats its parent's lines, the parent's meta among them: the first counts.
    first: Option<Vec<(String, Json)>>,
    /// Models with the number of their turns, in the order met.
    models: Vec<(String, u64)>,
}

/// Different models counted; a session uses a few.
const MODELS_MAX: usize = 100;

/// Fields that have a name of their own in the trace's metadata; all others are kept under `extra`.
const NAMED: [&str; 4] = ["cwd", "cli_version", "git", "forked_from_id"];

impl Meta {
    /// Takes a meta.
    pub(super) fn take(&mut self, fields: Vec<(String, Json)>) {
        self.first.get_or_insert(fields);
    }

    /// Takes the context of a turn.
    pub(super) fn turn(&mut self, mut fields: Vec<(String, Json)>) {
        let Some(model) = text(take_field(&mut fields, "model")).filter(|model| !model.is_empty()) else { return };
        if let Some((_, turns)) = self.models.iter_mut().find(|(name, _)| *name == model) {
            *turns += 1;
        } else if self.models.len() < MODELS_MAX {
            self.models.push((model, 1));
        }
    }

    /// The head of the trace. What it cannot hold is left out with a warning.
    pub(super) fn head(&mut self, out: &mut Out<'_>) -> TraceHead {
        let mut head = HeadBuilder::default();
        let mut fields = self.first.take().unwrap_or_default();
        let id = take_field(&mut fields, "id").unwrap_or(Json::Null);
        let session = take_field(&mut fields, "session_id").filter(|id| matches!(id, Json::Text(_)));
        head.fact("session", session.unwrap_or_else(|| id.clone()));
        if let Err(bad) = head.external_id("id", id) {
            out.warn(bad.field, format!("left out: {}", bad.message));
        }
        head.fact("agent", take_field(&mut fields, "originator").unwrap_or(Json::Null));
        // Of models with equally many turns the first one.
        let model = self.models.iter().rev().max_by_key(|(_, turns)| *turns);
        head.fact("model", model.map_or(Json::Null, |(name, _)| Json::Text(name.clone())));
        let base = match take_field(&mut fields, "base_instructions") {
            Some(Json::Object(mut base)) => take_field(&mut base, "text"),
            other => other,
        };
        let instructions = take_field(&mut fields, "instructions").filter(|text| *text != Json::Null).or(base);
        for (name, value) in
            [("instructions", instructions)].into_iter().chain(NAMED.map(|name| (name, take_field(&mut fields, name))))
        {
            match value {
                Some(value) if value.is_too_deep() => out.warn(name, "left out: nests too deep"),
                Some(value) => head.fact(name, value),
                None => {}
            }
        }
        for (name, value) in fields {
            if let Err(bad) = head.extra(vec![name], value) {
                out.warn(bad.field, format!("left out: {}", bad.message));
            }
        }
        head.finish(out)
    }
}
