//! Conversations of an agent, before any format writes them: instructions, questions, calls of one to three tools at once, results
//! short and long, answers. Texts have line feeds, quotation marks, code and letters outside ASCII.

use serde_json::{Value, json};
use stash_domain::seeded::Seeded;

/// A call of a tool and what came of it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: &'static str,
    /// Its arguments, an object.
    pub arguments: Value,
    /// The result.
    pub result: String,
}

/// A question, calls, and the answer.
#[derive(Clone, Debug)]
pub struct Turn {
    /// What the person asks.
    pub question: String,
    /// The calls, made at once.
    pub calls: Vec<Call>,
    /// What the agent answers after the results.
    pub answer: String,
}

/// A conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Number within the input, from 0.
    pub number: u64,
    /// The instructions.
    pub system: String,
    /// Its turns.
    pub turns: Vec<Turn>,
}

/// A message of a conversation.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// The instructions.
    System(&'a str),
    /// A question.
    User(&'a str),
    /// Calls made at once.
    Calls(&'a [Call]),
    /// What came of one.
    Result(&'a Call),
    /// An answer.
    Answer(&'a str),
}

impl Conversation {
    /// All messages in their order.
    pub fn messages(&self) -> Vec<Message<'_>> {
        let mut messages = vec![Message::System(&self.system)];
        for turn in &self.turns {
            messages.push(Message::User(&turn.question));
            messages.push(Message::Calls(&turn.calls));
            messages.extend(turn.calls.iter().map(Message::Result));
            messages.push(Message::Answer(&turn.answer));
        }
        messages
    }

    /// Each call of the model: the messages that it was given and the one that it made.
    pub fn model_calls(&self) -> Vec<(Vec<Message<'_>>, Message<'_>)> {
        let messages = self.messages();
        let made = |message: &Message<'_>| matches!(message, Message::Calls(_) | Message::Answer(_));
        messages
            .iter()
            .enumerate()
            .filter(|(_, message)| made(message))
            .map(|(at, message)| (messages[..at].to_vec(), *message))
            .collect()
    }

    /// An id that is its own: 32 digits in hexadecimal, beginning with the kind.
    pub fn id(&self, kind: u8, index: usize) -> String {
        format!("{kind:02x}{:014x}{:016x}", self.number + 1, index + 1)
    }

    /// A time in ISO 8601, some seconds after the conversation began.
    pub fn time(&self, seconds: usize) -> String {
        let minutes = self.number % 1440;
        let minute = (minutes as usize + seconds / 60) % 1440;
        format!("2026-03-02T{:02}:{:02}:{:02}.{:03}Z", minute / 60, minute % 60, seconds % 60, self.number % 1000)
    }
}

/// Makes conversations one after another.
#[derive(Clone, Debug)]
pub struct Conversations {
    random: Seeded,
    made: u64,
}

const WORDS: [&str; 48] = [
    "the",
    "order",
    "of",
    "customer",
    "is",
    "refund",
    "and",
    "flight",
    "to",
    "search",
    "error",
    "retry",
    "please",
    "policy",
    "for",
    "your",
    "reservation",
    "payment",
    "not",
    "cancelled",
    "before",
    "after",
    "within",
    "hours",
    "because",
    "cannot",
    "record",
    "account",
    "verified",
    "tomorrow",
    "seat",
    "upgrade",
    "baggage",
    "balance",
    "function",
    "returns",
    "module",
    "commit",
    "timeout",
    "latency",
    "café",
    "naïve",
    "Zürich",
    "東京",
    "résumé",
    "the",
    "a",
    "in",
];

const TOOLS: [&str; 6] = ["search_flights", "get_order", "cancel_reservation", "run_tests", "read_file", "update"];

impl Conversations {
    /// Begins.
    pub fn new(seed: i64) -> Self {
        Self { random: Seeded::new(seed, "bench inputs"), made: 0 }
    }

    /// The next one: three to seven turns.
    pub fn next_one(&mut self) -> Conversation {
        let number = self.made;
        self.made += 1;
        let turns = 3 + self.random.below(5);
        let system = self.text(150);
        let turns = (0..turns).map(|turn| self.turn(number, turn)).collect();
        Conversation { number, system, turns }
    }

    fn turn(&mut self, number: u64, turn: usize) -> Turn {
        let (words, count) = (8 + self.random.below(40), 1 + self.random.below(3));
        let question = self.text(words);
        let calls = (0..count).map(|call| self.call(format!("call_{number}_{turn}_{call}"))).collect();
        let words = 10 + self.random.below(150);
        Turn { question, calls, answer: self.text(words) }
    }

    fn call(&mut self, id: String) -> Call {
        let name = TOOLS[self.random.below(TOOLS.len())];
        let arguments = json!({
            "id": format!("{:06X}", self.random.below(1 << 24)),
            "limit": self.random.below(50),
            "note": self.text(6),
            "options": {"dry_run": self.random.below(2) == 0, "tags": [self.text(1), self.text(1)]},
        });
        let result = if self.random.below(2) == 0 { self.rows() } else { self.code() };
        Call { id, name, arguments, result }
    }

    /// A result that is JSON.
    fn rows(&mut self) -> String {
        let rows: Vec<_> = (0..=self.random.below(10))
            .map(|_| {
                json!({"number": format!("HAT{:03}", self.random.below(1000)), "price": self.random.below(90_000),
                "seats": self.random.below(30), "state": self.text(4)})
            })
            .collect();
        Value::Array(rows).to_string()
    }

    /// A result that is a file with line numbers and tabs.
    fn code(&mut self) -> String {
        let lines = 5 + self.random.below(60);
        (1..=lines).map(|line| format!("{line:5}\t    if self.{} != \"{}\":\n", self.text(2), self.text(4))).collect()
    }

    fn text(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 7);
        for word in 0..words {
            if word > 0 {
                text.push_str(match self.random.below(48) {
                    0..4 => ". ",
                    4 => "\n",
                    5 => ", ",
                    6 => " – ",
                    7 => " \"",
                    _ => " ",
                });
            }
            text.push_str(WORDS[self.random.below(WORDS.len())]);
        }
        text
    }
}
