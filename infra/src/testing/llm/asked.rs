//! A request as the server understood it.

use crate::llm::form::Form;
use crate::llm::providers::Wire;
use axum::http::HeaderMap;
use serde_json::Value;

/// A request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which one it is, from 0.
    pub number: usize,
    /// Its wire format, by its path.
    pub wire: Wire,
    /// The model.
    pub model: String,
    /// The instructions.
    pub system: String,
    /// Roles and texts of the conversation.
    pub turns: Vec<(String, String)>,
    /// How an answer of a schema is asked for; `Text` without one.
    pub form: Form,
    /// The key that came with it.
    pub key: Option<String>,
    /// The whole body.
    pub body: Value,
}

impl Asked {
    /// All that the model is told, in one text: instructions and turns.
    pub fn text(&self) -> String {
        let turns = self.turns.iter().map(|(role, text)| format!("{role}: {text}"));
        std::iter::once(self.system.clone()).chain(turns).collect::<Vec<_>>().join("\n")
    }

    /// What was said last.
    pub fn last(&self) -> &str {
        self.turns.last().map_or("", |(_, text)| text)
    }

    pub(super) fn read(number: usize, path: &str, headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let wire = if path.ends_with("/messages") { Wire::Anthropic } else { Wire::OpenAi };
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let text = |value: &Value| match value.as_array() {
            Some(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            None => value.as_str().unwrap_or_default().to_owned(),
        };
        let mut system = String::new();
        let mut turns = Vec::new();
        if let Some(blocks) = body.get("system") {
            system = text(blocks);
        }
        for message in body["messages"].as_array().into_iter().flatten() {
            match message["role"].as_str() {
                Some("system") => system = text(&message["content"]),
                role => turns.push((role.unwrap_or_default().to_owned(), text(&message["content"]))),
            }
        }
        let form = match (body["response_format"]["type"].as_str(), body["tool_choice"]["type"].as_str()) {
            _ if body.get("output_config").is_some() => Form::Schema,
            (Some("json_schema"), _) => Form::Schema,
            (Some("json_object"), _) => Form::JsonObject,
            (_, Some("tool")) => Form::ForcedTool,
            (_, Some(_)) => Form::OfferedTool,
            _ => Form::Text,
        };
        let bearer = header("authorization").map(|value| value.trim_start_matches("Bearer ").to_owned());
        Self {
            number,
            wire,
            model: text(&body["model"]),
            system,
            turns,
            form,
            key: header("x-api-key").or(bearer),
            body,
        }
    }
}
