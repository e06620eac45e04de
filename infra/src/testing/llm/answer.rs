//! What the server answers.

use super::Asked;
use crate::llm::form::Form;
use crate::llm::providers::Wire;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures::stream;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Tokens that a reply claims to have taken, unless told otherwise: (read, written).
const TOKENS: (u64, u64) = (100, 10);

/// Holds answers back until they are let go, so that a test decides what happens while a call is under way.
#[derive(Clone, Debug)]
pub struct Held(Arc<Semaphore>);

impl Default for Held {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Held {
    /// Lets so many answers go.
    pub fn let_go(&self, answers: usize) {
        self.0.add_permits(answers);
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The model says this text; where a tool is there for it, as the tool's arguments.
    Says {
        /// The text.
        text: String,
        /// Why it ended, in the words of Anthropic; those of OpenAI are found from it.
        stop: &'static str,
        /// Tokens read and written.
        tokens: (u64, u64),
    },
    /// Any response.
    Raw {
        /// HTTP status.
        status: u16,
        /// `Content-Type`.
        content_type: &'static str,
        /// `Retry-After`.
        retry_after: Option<String>,
        /// The body.
        body: String,
    },
    /// An answer that comes once it is let go; before that, only silence.
    Held(Held, Box<Answer>),
    /// A body that never ends.
    Endless,
    /// A body that breaks off together with the connection.
    BreaksOff,
}

impl Answer {
    /// The model says this text.
    pub fn says(text: impl Into<String>) -> Self {
        Self::Says { text: text.into(), stop: "end_turn", tokens: TOKENS }
    }

    /// The model says this text and claims these tokens, read and written.
    pub fn says_for(text: impl Into<String>, tokens: (u64, u64)) -> Self {
        Self::Says { text: text.into(), stop: "end_turn", tokens }
    }

    /// The model is cut off after this text.
    pub fn is_cut_off(text: impl Into<String>) -> Self {
        Self::Says { text: text.into(), stop: "max_tokens", tokens: TOKENS }
    }

    /// The model declines.
    pub fn declines() -> Self {
        Self::Says { text: String::new(), stop: "refusal", tokens: TOKENS }
    }

    /// The server refuses the request for good.
    pub fn refuses(message: &str) -> Self {
        Self::fails(400, message)
    }

    /// The server answers with an error.
    pub fn fails(status: u16, message: &str) -> Self {
        let body = json!({"type": "error", "error": {"type": "some_error", "message": message}}).to_string();
        Self::Raw { status, content_type: "application/json", retry_after: None, body }
    }

    /// The server has had enough requests.
    pub fn is_limited(retry_after: &str) -> Self {
        let body = json!({"error": {"message": "slow down"}}).to_string();
        Self::Raw { status: 429, content_type: "application/json", retry_after: Some(retry_after.to_owned()), body }
    }

    /// The server answers 200 with whatever this is.
    pub fn raw(content_type: &'static str, body: impl Into<String>) -> Self {
        Self::Raw { status: 200, content_type, retry_after: None, body: body.into() }
    }

    /// The same, once it is let go.
    #[must_use]
    pub fn held(self, held: &Held) -> Self {
        Self::Held(held.clone(), Box::new(self))
    }

    pub(super) async fn respond(self, asked: &Asked) -> Response {
        let mut answer = self;
        while let Self::Held(held, then) = answer {
            if let Ok(permit) = held.0.acquire().await {
                permit.forget();
            }
            answer = *then;
        }
        match answer {
            Self::Says { text, stop, tokens } => {
                let body = match asked.wire {
                    Wire::Anthropic => anthropic(asked, &text, stop, tokens),
                    Wire::OpenAi => openai(asked, &text, stop, tokens),
                };
                whole(200, "application/json", None, body)
            }
            Self::Raw { status, content_type, retry_after, body } => whole(status, content_type, retry_after, body),
            Self::Endless => {
                let spaces = Bytes::from_static(&[b' '; 8192]);
                let parts = stream::repeat_with(move || Ok::<_, std::io::Error>(spaces.clone()));
                Response::new(Body::from_stream(parts))
            }
            Self::BreaksOff => {
                let parts = [Ok(Bytes::from_static(b"{\"choices\":")), Err(std::io::Error::other("broken off"))];
                Response::new(Body::from_stream(stream::iter(parts)))
            }
            Self::Held(..) => Response::new(Body::empty()),
        }
    }
}

fn whole(status: u16, content_type: &'static str, retry_after: Option<String>, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(value) = retry_after.and_then(|text| HeaderValue::from_str(&text).ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

fn anthropic(asked: &Asked, text: &str, stop: &str, (read, written): (u64, u64)) -> String {
    let as_tool = matches!(asked.form, Form::ForcedTool | Form::OfferedTool);
    let input = serde_json::from_str::<serde_json::Value>(text).ok().filter(|_| as_tool);
    let block = match input {
        Some(input) => {
            json!({"type": "tool_use", "id": "toolu_1", "name": asked.body["tools"][0]["name"], "input": input})
        }
        None => json!({"type": "text", "text": text}),
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked.model, "content": [block],
        "stop_reason": stop, "usage": {"input_tokens": read, "output_tokens": written},
    })
    .to_string()
}

fn openai(asked: &Asked, text: &str, stop: &str, (read, written): (u64, u64)) -> String {
    let refusal = (stop == "refusal").then_some("I cannot do that.");
    let finish = if stop == "max_tokens" { "length" } else { "stop" };
    let message = json!({"role": "assistant", "content": text, "refusal": refusal});
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    })
    .to_string()
}
