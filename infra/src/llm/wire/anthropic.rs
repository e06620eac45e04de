//! Anthropic's Messages.

use super::{Heard, instructions, raw};
use crate::llm::call::{Call, Speaker, Stop, Usage};
use crate::llm::endpoint::Endpoint;
use crate::llm::form::Form;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Version of the interface.
pub(super) const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<TextBlock<'a>>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice<'a>>,
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

impl<'a> TextBlock<'a> {
    fn plain(text: &'a str) -> Self {
        Self { r#type: "text", text, cache_control: None }
    }

    /// One that ends what is equal for many calls: the provider keeps what it made of everything up to here, and takes a tenth
    /// of the price for it.
    fn cached(text: &'a str) -> Self {
        Self { cache_control: Some(CacheControl { r#type: "ephemeral" }), ..Self::plain(text) }
    }
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<TextBlock<'a>>,
}

#[derive(Serialize)]
struct OutputConfig {
    format: Format,
}

#[derive(Serialize)]
struct Format {
    r#type: &'static str,
    schema: Box<RawValue>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'static str,
    input_schema: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
struct ToolChoice<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

pub(super) fn body(endpoint: &Endpoint, call: &Call, form: Form) -> Result<Vec<u8>, serde_json::Error> {
    let system = instructions(call, form);
    let mut body = Body {
        model: &endpoint.model.name,
        max_tokens: call.tokens_max,
        temperature: call.temperature,
        system: Vec::new(),
        messages: call
            .turns
            .iter()
            .enumerate()
            .map(|(index, turn)| {
                let role = match turn.speaker {
                    Speaker::User => "user",
                    Speaker::Assistant => "assistant",
                };
                let context = (index == 0 && !call.context.is_empty()).then(|| TextBlock::cached(&call.context));
                Message { role, content: context.into_iter().chain([TextBlock::plain(&turn.text)]).collect() }
            })
            .collect(),
        output_config: None,
        tools: Vec::new(),
        tool_choice: None,
    };
    if !system.is_empty() {
        body.system.push(TextBlock::cached(&system));
    }
    if let Some(schema) = &call.answer {
        let strict = raw(schema.strict_text())?;
        match form {
            Form::Schema => {
                body.output_config = Some(OutputConfig { format: Format { r#type: "json_schema", schema: strict } });
            }
            Form::ForcedTool | Form::OfferedTool => {
                let forced = form == Form::ForcedTool;
                body.tools.push(Tool {
                    name: schema.name(),
                    description: "Takes the answer.",
                    input_schema: strict,
                    strict: forced.then_some(true),
                });
                body.tool_choice = Some(ToolChoice {
                    r#type: if forced { "tool" } else { "auto" },
                    name: forced.then_some(schema.name()),
                });
            }
            Form::JsonObject | Form::Text => {}
        }
    }
    serde_json::to_vec(&body)
}

#[derive(Deserialize)]
struct Response {
    content: Vec<Block>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Counts,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
struct Counts {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Heard, String> {
    let response: Response = serde_json::from_slice(bytes).map_err(|error| shape(&error))?;
    let called =
        response.content.iter().find(|block| block.r#type == "tool_use").and_then(|block| block.input.as_ref());
    let text = match called {
        Some(input) => input.get().to_owned(),
        None => {
            response.content.iter().filter(|block| block.r#type == "text").filter_map(|b| b.text.as_deref()).collect()
        }
    };
    let counts = response.usage;
    Ok(Heard {
        text,
        stop: match response.stop_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            Some("refusal") => Stop::Declined,
            _ => Stop::End,
        },
        model: response.model,
        usage: Usage {
            input: counts.input_tokens.unwrap_or(0),
            output: counts.output_tokens.unwrap_or(0),
            cache_read: counts.cache_read_input_tokens.unwrap_or(0),
            cache_written: counts.cache_creation_input_tokens.unwrap_or(0),
        },
    })
}

/// Where JSON is not what was expected. The parser's own words may hold some of it.
pub(super) fn shape(error: &serde_json::Error) -> String {
    match error.classify() {
        serde_json::error::Category::Eof => "it ends too early".to_owned(),
        serde_json::error::Category::Data => {
            format!("it lacks a field, or has one of another type, at column {}", error.column())
        }
        _ => format!("it is no JSON from column {} on", error.column()),
    }
}
