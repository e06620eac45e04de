//! The text the small tokenizer is trained on, made here from a word list and a few shapes that agents' traces have.

use crate::rng::Rng;

/// Common English words, the vocabulary of service agents, and of code.
const WORDS: &str = include_str!("words.txt");
/// Sentences and calls in the corpus.
const LINES: usize = 6_000;
const SENTENCE_WORDS_MIN: usize = 4;
const SENTENCE_WORDS_SPAN: usize = 10;
/// How phrases of a conversation begin, so that their usual words come often.
const OPENINGS: [&str; 12] = [
    "I would like to",
    "Could you please",
    "I'm sorry, but",
    "Let me check the",
    "Thank you for the",
    "You can",
    "It looks like",
    "I have found the",
    "Please confirm that",
    "Is there anything else",
    "We don't have the",
    "Here is the",
];
const KEYS: [&str; 12] = [
    "user_id",
    "order_id",
    "reservation_id",
    "amount",
    "date",
    "query",
    "path",
    "status",
    "name",
    "payment_id",
    "content",
    "total_price",
];
const TOOLS: [&str; 8] = [
    "get_user_details",
    "get_reservation_details",
    "search_flights",
    "cancel_order",
    "update_record",
    "read_file",
    "run_command",
    "send_refund",
];

/// The corpus for `seed`: lines of sentences, tool calls and records.
pub(super) fn make(seed: u64) -> String {
    let mut rng = Rng::for_part(seed, "corpus");
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut text = String::new();
    // Each word once by itself, so that rare ones are merged too.
    for word in &words {
        text.push(' ');
        text.push_str(word);
    }
    text.push('\n');
    for line in 0..LINES {
        match line % 4 {
            0 => call(&mut text, &mut rng, &words),
            1 => record(&mut text, &mut rng, &words),
            _ => sentence(&mut text, &mut rng, &words),
        }
        text.push('\n');
    }
    text
}

fn one<'a>(rng: &mut Rng, items: &[&'a str]) -> &'a str {
    rng.pick(items).copied().unwrap_or_default()
}

/// Words early in the list come more often: the smaller of two draws.
fn word<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    let index = rng.below(words.len()).min(rng.below(words.len()));
    words.get(index).copied().unwrap_or_default()
}

fn sentence(text: &mut String, rng: &mut Rng, words: &[&str]) {
    text.push_str(one(rng, &OPENINGS));
    for _ in 0..SENTENCE_WORDS_MIN + rng.below(SENTENCE_WORDS_SPAN) {
        text.push(' ');
        text.push_str(word(rng, words));
        if rng.below(8) == 0 {
            text.push(',');
        }
    }
    text.push_str(one(rng, &[".", "?", "!", ":", ". The", ".\n\n- **"]));
}

fn pair(text: &mut String, rng: &mut Rng, words: &[&str]) {
    let key = one(rng, &KEYS);
    match rng.below(3) {
        0 => text.push_str(&format!("\"{key}\": {}", rng.below(10_000))),
        1 => text.push_str(&format!("\"{key}\": \"{}_{}_{}\"", word(rng, words), word(rng, words), rng.below(10_000))),
        _ => text.push_str(&format!("\"{key}\": \"2024-{:02}-{:02}\"", 1 + rng.below(12), 1 + rng.below(28))),
    }
}

fn call(text: &mut String, rng: &mut Rng, words: &[&str]) {
    text.push_str(&format!("<tool_call>\n{{\"name\": \"{}\", \"arguments\": {{", one(rng, &TOOLS)));
    pair(text, rng, words);
    text.push_str(", ");
    pair(text, rng, words);
    text.push_str("}}\n</tool_call>");
}

fn record(text: &mut String, rng: &mut Rng, words: &[&str]) {
    text.push_str(one(rng, &["user", "assistant", "tool", "### user", "### assistant"]));
    text.push_str("\n{");
    pair(text, rng, words);
    text.push_str(", ");
    pair(text, rng, words);
    text.push_str(", \"items\": [{");
    pair(text, rng, words);
    text.push_str("}]}");
}
