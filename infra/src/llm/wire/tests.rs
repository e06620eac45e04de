use super::*;
use crate::config::{Environment, LlmSettings};
use serde_json::{Value, json};
use std::sync::Arc;

fn endpoint(model: &str) -> Endpoint {
    let variables =
        [("ANTHROPIC_API_KEY", "sk-a"), ("OPENAI_API_KEY", "sk-o"), ("HOSTED_VLLM_API_BASE", "http://v/v1")];
    Endpoint::find(&LlmSettings::read(&Environment::of(variables)).unwrap(), model, None).unwrap()
}

fn call() -> Call {
    let schema = AnswerSchema::new(
        "verdict",
        r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer","minimum":0}}}"#,
    );
    Call::new("Judge.", "This.", 100).with_answer(Arc::new(schema.unwrap()))
}

fn sent(model: &str, form: Form) -> (Value, String) {
    let bytes = body(&endpoint(model), &call(), form).unwrap();
    (serde_json::from_slice(&bytes).unwrap(), String::from_utf8(bytes).unwrap())
}

#[test]
fn anthropic_is_asked_in_each_form() {
    let (body, text) = sent("claude-x", Form::Schema);
    assert_eq!(body["model"], "claude-x");
    assert_eq!(body["max_tokens"], json!(100));
    assert_eq!(body["system"][0]["text"], "Judge.");
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(body["messages"], json!([{"role": "user", "content": [{"type": "text", "text": "This."}]}]));
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    assert!(text.find("\"z\"").unwrap() < text.find("\"a\"").unwrap(), "fields keep their order: {text}");
    for absent in ["temperature", "top_p", "tools", "tool_choice", "minimum", "thinking"] {
        assert!(!text.contains(&format!("\"{absent}\"")), "{absent}: {text}");
    }
    let (body, _) = sent("claude-x", Form::ForcedTool);
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "verdict"}));
    assert_eq!(body["tools"][0]["strict"], true);
    assert!(body.get("output_config").is_none());
    let (body, _) = sent("claude-x", Form::OfferedTool);
    assert_eq!(body["tool_choice"], json!({"type": "auto"}));
    assert!(body["system"][0]["text"].as_str().unwrap().contains("calling the tool `verdict`"));
    let (body, _) = sent("claude-x", Form::Text);
    assert!(body.get("tools").is_none());
    assert!(body["system"][0]["text"].as_str().unwrap().contains("JSON Schema"));
}

#[test]
fn a_context_stands_before_the_question_and_is_cached_apart() {
    let call = call().with_context("The record. ");
    let sent =
        |model| -> Value { serde_json::from_slice(&body(&endpoint(model), &call, Form::Text).unwrap()).unwrap() };
    let cached = json!({"type": "text", "text": "The record. ", "cache_control": {"type": "ephemeral"}});
    assert_eq!(sent("claude-x")["messages"][0]["content"], json!([cached, {"type": "text", "text": "This."}]));
    assert_eq!(sent("gpt-x")["messages"][1]["content"], "The record. This.");
}

#[test]
fn openai_is_asked_in_each_form() {
    let (body, _) = sent("gpt-x", Form::Schema);
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "Judge."}));
    assert_eq!(body["max_completion_tokens"], json!(100));
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    let (body, _) = sent("hosted_vllm/m", Form::JsonObject);
    assert_eq!(body["max_tokens"], json!(100), "other servers know the old name");
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("\"minimum\":0"), "bounds are told");
    assert!(sent("hosted_vllm/m", Form::Text).0.get("response_format").is_none());
}

#[test]
fn a_key_goes_into_the_header_of_its_wire() {
    assert!(headers(&endpoint("claude-x")).contains(&("x-api-key", "sk-a".to_owned())));
    assert!(headers(&endpoint("gpt-x")).contains(&("authorization", "Bearer sk-o".to_owned())));
    assert!(headers(&endpoint("hosted_vllm/m")).iter().all(|(name, _)| *name != "authorization"));
}

#[test]
fn anthropic_responses_are_read() {
    let heard = |body: Value| read(Wire::Anthropic, body.to_string().as_bytes());
    let text = json!({"model": "claude-x-1", "stop_reason": "end_turn",
        "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "usage": {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": null}});
    let heard_text = heard(text).unwrap();
    assert_eq!((heard_text.text.as_str(), heard_text.stop), ("ab", Stop::End));
    assert_eq!(heard_text.usage, Usage { input: 1, output: 2, cache_read: 3, cache_written: 0 });
    let tool = json!({"content": [{"type": "text", "text": "so"}, {"type": "tool_use", "id": "1", "name": "v", "input": {"z": 1}}]});
    assert_eq!(heard(tool).unwrap().text, r#"{"z":1}"#);
    assert_eq!(heard(json!({"content": [], "stop_reason": "refusal"})).unwrap().stop, Stop::Declined);
    assert_eq!(heard(json!({"content": [], "stop_reason": "max_tokens"})).unwrap().stop, Stop::Length);
    assert!(heard(json!({"choices": []})).is_err());
}

#[test]
fn openai_responses_are_read() {
    let heard = |body: Value| read(Wire::OpenAi, body.to_string().as_bytes());
    let text = json!({"model": "m", "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}});
    let heard_text = heard(text).unwrap();
    assert_eq!(heard_text.usage, Usage { input: 6, output: 2, cache_read: 4, cache_written: 0 });
    let parts =
        json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}]}, "finish_reason": "length"}]});
    assert_eq!(heard(parts).map(|heard| (heard.text, heard.stop)), Ok(("a".to_owned(), Stop::Length)));
    let refused = json!({"choices": [{"message": {"content": null, "refusal": "no"}}]});
    assert_eq!(heard(refused).unwrap().stop, Stop::Declined);
    assert!(heard(json!({"choices": []})).is_err());
    let wrong = read(Wire::OpenAi, br#"{"choices": "what a person wrote"}"#).unwrap_err();
    assert!(!wrong.contains("person"), "{wrong}");
}
