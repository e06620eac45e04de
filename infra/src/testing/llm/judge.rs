//! A judge of what agents did, for [`LlmServer`](super::LlmServer): reads questions as `stash_domain::learning::extraction` puts
//! them, and answers in their schemas.

use super::{Answer, Asked};
use serde_json::{Value, json};
use stash_domain::ids::Digest;
use stash_domain::learning::evaluation::Case;

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

/// A judge that knows what is right about these cases. Its alternatives are other answers and other calls.
pub fn knowing(cases: &[Case], asked: &Asked) -> Answer {
    let known = cases.iter().find_map(|case| Some((case, shown(case, question(asked))?)));
    let Some((case, original)) = known else { return Answer::fails(400, "no case asks this") };
    let label = case.expected.labels.first().map_or("positive", |label| label.name());
    let (alternative, marked) = match original.contains("\"call\": {") {
        true => (r#"{"tool_name": "other", "tool_input": {}, "content": ""}"#, "\"other\""),
        false => ("Another.", "Another."),
    };
    match purpose(asked) {
        "feedback" => case.expected.evidence.map_or_else(
            || feedback("none", "", "", ""),
            |words| feedback(label, &evidence_with(asked, words), words, ""),
        ),
        "judgment" => judgment(asked, label, alternative),
        _ => review(asked, if label == "negative" { marked } else { &original }),
    }
}

/// How a question about a case shows the action, from its role on; none for a question about anything else.
fn shown(case: &Case, question: &str) -> Option<String> {
    let call = case.assessment()?.call()?;
    let action = call.task.strip_prefix("\nTHE ACTION\n")?.lines().next()?;
    let (_, said) = action.split_once("\"role\"")?;
    let rest = question.strip_prefix(call.context.as_str())?;
    let begins = rest.starts_with(&format!("\nTHE ACTION\n{action}\n")) || rest.starts_with("\nTHE CANDIDATES\n");
    (begins && rest.contains(said)).then(|| said.to_owned())
}

/// The name of the line of evidence that has these words.
fn evidence_with(asked: &Asked, words: &str) -> String {
    let escaped = Value::from(words).to_string();
    let mut lines = question(asked).lines().filter(|line| line.starts_with("{\"evidence\""));
    let line = lines.find(|line| line.contains(escaped.trim_matches('"'))).unwrap_or_default();
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    line["evidence"].as_str().unwrap_or_default().to_owned()
}
