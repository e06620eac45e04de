//! A judge of what agents did, for [`LlmServer`](super::LlmServer): reads questions as `stash_domain::learning::extraction` puts
//! them, and answers in their schemas.

use super::{Answer, Asked};
use serde_json::{Value, json};
use stash_domain::ids::Digest;

/// The question, also where a repair of its answer is asked for.
fn question(asked: &Asked) -> &str {
    asked.turns.first().map_or("", |(_, text)| text)
}

/// What a question is for, by the schema of its answer: `feedback`, `judgment` or `review`. Of OpenAI's format alone.
pub fn purpose(asked: &Asked) -> &str {
    asked.body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default()
}

/// The line of a question that shows the action.
pub fn action(asked: &Asked) -> &str {
    question(asked).split("\nTHE ACTION\n").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default()
}

fn criteria(asked: &Asked, verdict: &str, value: &str) -> Vec<Value> {
    let list = question(asked).rsplit("riteria:\n").next().unwrap_or_default();
    let names = list.lines().filter_map(|line| line.strip_prefix("- ")?.split(':').next());
    names.map(|name| json!({"criterion": name, verdict: value, "note": ""})).collect()
}

/// A person reacted so, in this quote of this line, to which the alternative would have been better, or worse; empty for none.
pub fn feedback(label: &str, evidence: &str, quote: &str, alternative: &str) -> Answer {
    let supported = !alternative.is_empty();
    Answer::says(
        json!({"reason": "They say so.", "label": label, "confidence": "high", "evidence_id": evidence,
            "evidence_quote": quote, "alternative": alternative, "alternative_supported": supported})
        .to_string(),
    )
}

/// The judge thinks so of the action; the alternative is the better, or the worse, one.
pub fn judgment(asked: &Asked, label: &str, alternative: &str) -> Answer {
    Answer::says(
        json!({"reason": "It is so.", "criteria": criteria(asked, "verdict", "met"), "label": label, "confidence": "high",
            "alternative": alternative, "alternative_supported": true})
        .to_string(),
    )
}

/// A review that prefers the candidate whose line holds this text.
pub fn review(asked: &Asked, better: &str) -> Answer {
    let mut lines = question(asked).lines().filter(|line| line.starts_with("{\"candidate\""));
    let preferred = match lines.find(|line| line.contains(better)) {
        Some(line) if line.starts_with("{\"candidate\": \"a\"") => "a",
        Some(_) => "b",
        None => "tie",
    };
    Answer::says(
        json!({"reason": "It is better.", "supported": {"a": true, "b": true}, "safe": {"a": true, "b": true},
            "criteria": criteria(asked, "better", preferred), "preferred": preferred})
        .to_string(),
    )
}

/// Nobody reacts; each action is bad; the alternative, which names the action, is better.
pub fn critical(asked: &Asked) -> Answer {
    match purpose(asked) {
        "feedback" => feedback("none", "", "", ""),
        "judgment" => {
            let alternative = format!("Better than {}", Digest::of(action(asked).as_bytes()));
            judgment(asked, "negative", &alternative)
        }
        _ => review(asked, "Better than"),
    }
}
