use super::*;
use serde_json::json;

const TEXT: &str = r#"{
    "type": "object",
    "properties": {
        "why": {"type": "string", "minLength": 1, "maxLength": 20, "description": "in short"},
        "verdict": {"enum": ["good", "bad", null]},
        "items": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 2},
        "other": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}]}
    },
    "required": ["why", "verdict"],
    "additionalProperties": false
}"#;

fn schema() -> AnswerSchema {
    AnswerSchema::new("verdict", TEXT).unwrap()
}

#[test]
fn fields_keep_their_order_and_bounds_become_words() {
    let strict = schema().strict_text().to_owned();
    assert!(strict.find("\"why\"").unwrap() < strict.find("\"verdict\"").unwrap(), "{strict}");
    assert!(strict.contains(r#""description":"in short; at least 1 characters; at most 20 characters""#), "{strict}");
    for word in ["minLength", "maximum", "maxItems"] {
        assert!(!strict.contains(word), "{strict}");
    }
    assert!(
        strict.ends_with(r#""required":["why","verdict","items","other"],"additionalProperties":false}"#),
        "{strict}"
    );
    assert!(schema().text().contains(r#""minLength":1"#), "numbers stay numbers: {}", schema().text());
}

#[test]
fn answers_are_held_to_all_of_it() {
    let good = json!({"why": "because", "verdict": null, "items": [0, 9.0], "other": {"a": 1}});
    assert_eq!(schema().check(&good), Ok(()));
    let cases = [
        (json!([]), "$ must be of type object"),
        (json!({"why": "x"}), "$.verdict is missing"),
        (json!({"why": "", "verdict": "good"}), "$.why must have at least 1 characters"),
        (json!({"why": "x".repeat(21), "verdict": "good"}), "$.why must have at most 20 characters"),
        (json!({"why": "x", "verdict": "fine"}), r#"$.verdict must be one of ["good","bad",null]"#),
        (json!({"why": "x", "verdict": "bad", "items": [10]}), "$.items[0] must be at most 9"),
        (json!({"why": "x", "verdict": "bad", "items": [1, 2, 3]}), "$.items must have at most 2 items"),
        (json!({"why": "x", "verdict": "bad", "items": [1.5]}), "$.items[0] must be of type integer"),
        (json!({"why": "x", "verdict": "bad", "other": {"a": 2}}), "$.other must be of type null"),
        (json!({"why": "x", "verdict": "bad", "secret": 1}), "$ may have no fields but why, verdict, items, other"),
    ];
    for (answer, wrong) in cases {
        assert_eq!(schema().check(&answer), Err(wrong.to_owned()), "{answer}");
    }
}

#[test]
fn what_would_not_be_checked_is_refused() {
    for text in [
        "x",
        "[]",
        r#"{"type": "array"}"#,
        r#"{"type": "object", "oneOf": []}"#,
        r#"{"type": "object", "properties": {"a": {"pattern": "x"}}}"#,
        r#"{"type": "object", "required": ["a"]}"#,
        r#"{"type": "object", "properties": {"a": {"minimum": "1"}}}"#,
    ] {
        assert!(AnswerSchema::new("x", text).is_err(), "{text}");
    }
    assert!(AnswerSchema::new("a b", TEXT).is_err());
}
