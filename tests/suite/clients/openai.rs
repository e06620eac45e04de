//! A server of OpenAI's chat interface that follows `tests/clients/conversation.json`: asked with the beginning of that
//! conversation, it gives the message that comes next, whole or in pieces. Anything else it refuses, and keeps as a fault.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The key that clients must send.
pub(super) const KEY: &str = "sk-loopback";

/// Characters of a text, and bytes of arguments, that a piece of a stream holds.
const PIECE: usize = 7;

struct Script {
    model: Value,
    messages: Vec<Value>,
    faults: Mutex<Vec<String>>,
}

/// The server; it ends with the test's runtime.
pub(super) struct OpenAi {
    /// For `OPENAI_BASE_URL`.
    pub(super) url: String,
    script: Arc<Script>,
}

impl OpenAi {
    /// Starts it on a free port of the loopback interface.
    pub(super) async fn start(conversation: &Value) -> Self {
        let messages = conversation["messages"].as_array().unwrap().clone();
        let script = Arc::new(Script { model: conversation["model"].clone(), messages, faults: Mutex::default() });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/chat/completions", post(complete)).with_state(script.clone());
        tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        Self { url, script }
    }

    /// What was asked that does not belong to the conversation.
    pub(super) fn faults(&self) -> Vec<String> {
        self.script.faults.lock().unwrap().clone()
    }
}

async fn complete(State(script): State<Arc<Script>>, headers: HeaderMap, Json(request): Json<Value>) -> Response {
    match script.next(&headers, &request) {
        Ok(answer) if request["stream"] == true => {
            ([(header::CONTENT_TYPE, "text/event-stream")], pieces(&answer)).into_response()
        }
        Ok(answer) => Json(answer).into_response(),
        Err(fault) => {
            let body = json!({"error": {"message": fault, "type": "invalid_request_error"}});
            script.faults.lock().unwrap().push(fault);
            (StatusCode::BAD_REQUEST, Json(body)).into_response()
        }
    }
}

impl Script {
    /// The completion that a request asks for.
    fn next(&self, headers: &HeaderMap, request: &Value) -> Result<Value, String> {
        let key = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if key != Some(&format!("Bearer {KEY}")) {
            return Err(format!("the key is {key:?}"));
        }
        if request["model"] != self.model {
            return Err(format!("the model is {}", request["model"]));
        }
        if request["tools"][0]["function"]["name"] != "weather" {
            return Err(format!("the tools are {}", request["tools"]));
        }
        let asked = request["messages"].as_array().ok_or("there are no messages")?;
        let begins =
            asked.len() < self.messages.len() && asked.iter().zip(&self.messages).all(|(a, b)| said(a) == said(b));
        let next = self.messages.get(asked.len()).filter(|next| begins && next["role"] == "assistant");
        let next = next.ok_or_else(|| format!("the conversation does not begin with {}", request["messages"]))?;
        let tokens = asked.len() * 10;
        Ok(json!({
            "id": format!("chatcmpl-{}", asked.len()),
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "gpt-4o-mini-2024-07-18",
            "choices": [{
                "index": 0,
                "message": next,
                "logprobs": null,
                "finish_reason": if next["tool_calls"].is_null() { "stop" } else { "tool_calls" },
            }],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5},
        }))
    }
}

/// A message without the fields that say nothing.
fn said(message: &Value) -> Value {
    let fields = message.as_object().cloned().unwrap_or_default();
    fields.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

/// A completion as the events of a stream.
fn pieces(completion: &Value) -> String {
    let mut head = completion.clone();
    head["object"] = json!("chat.completion.chunk");
    let usage = head["usage"].take();
    let message = &completion["choices"][0]["message"];
    let mut deltas = vec![(json!({"role": "assistant", "content": null}), Value::Null)];
    let text: Vec<char> = message["content"].as_str().unwrap_or_default().chars().collect();
    deltas.extend(text.chunks(PIECE).map(|piece| (json!({"content": piece.iter().collect::<String>()}), Value::Null)));
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let name = &call["function"]["name"];
        let begin =
            json!({"index": index, "id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}});
        deltas.push((json!({"tool_calls": [begin]}), Value::Null));
        let arguments: Vec<char> = call["function"]["arguments"].as_str().unwrap().chars().collect();
        for piece in arguments.chunks(PIECE) {
            let piece = json!({"index": index, "function": {"arguments": piece.iter().collect::<String>()}});
            deltas.push((json!({"tool_calls": [piece]}), Value::Null));
        }
    }
    deltas.push((json!({}), completion["choices"][0]["finish_reason"].clone()));
    let mut events = String::new();
    let mut put = |choices: Value, usage: &Value| {
        head["choices"] = choices;
        head["usage"] = usage.clone();
        events.push_str(&format!("data: {head}\n\n"));
    };
    for (delta, finish_reason) in deltas {
        put(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason}]), &Value::Null);
    }
    put(json!([]), &usage);
    events.push_str("data: [DONE]\n\n");
    events
}
