//! What a model is asked, and what it replies.

use super::form::Form;
use super::schema::AnswerSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use stash_domain::ids::Digest;
use std::sync::Arc;

/// Who says a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// We.
    User,
    /// The model.
    Assistant,
}

/// A turn of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
}

/// What a model is asked.
#[derive(Clone, Debug)]
pub struct Call {
    /// Instructions, equal for many calls: providers that can are told to cache them.
    pub instructions: String,
    /// What the first turn begins with, equal for several calls one after the other: worth caching too. May be empty.
    pub context: String,
    /// The conversation; the first turn and the last are ours.
    pub turns: Vec<Turn>,
    /// What the answer must look like; none: any text.
    pub answer: Option<Arc<AnswerSchema>>,
    /// Most tokens of the reply, its thinking included.
    pub tokens_max: u32,
    /// Sampling temperature. None leaves it to the provider: newer models refuse any.
    pub temperature: Option<f64>,
}

impl Call {
    /// A call of one question.
    pub fn new(instructions: impl Into<String>, question: impl Into<String>, tokens_max: u32) -> Self {
        let turn = Turn { speaker: Speaker::User, text: question.into() };
        Self {
            instructions: instructions.into(),
            context: String::new(),
            turns: vec![turn],
            answer: None,
            tokens_max,
            temperature: None,
        }
    }

    /// The same with this before the question.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.context = context.into();
        self
    }

    /// The same with an answer of this schema.
    #[must_use]
    pub fn with_answer(mut self, answer: Arc<AnswerSchema>) -> Self {
        self.answer = Some(answer);
        self
    }

    /// What makes two calls of a model the same: everything that is sent and the model's string. Part lengths are hashed too, so
    /// that no two different calls run together.
    pub fn digest(&self, model: &str) -> Digest {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        part(model.as_bytes());
        part(&self.tokens_max.to_be_bytes());
        part(&self.temperature.map(f64::to_be_bytes).unwrap_or_default());
        part(&[u8::from(self.temperature.is_some())]);
        part(self.answer.as_ref().map_or(&[][..], |schema| schema.text().as_bytes()));
        part(self.instructions.as_bytes());
        part(self.context.as_bytes());
        for turn in &self.turns {
            part(&[u8::from(turn.speaker == Speaker::User)]);
            part(turn.text.as_bytes());
        }
        Digest(hash.finalize().into())
    }
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It was complete.
    End,
    /// It ran into its bound on tokens, or into the model's.
    Length,
    /// The model, or a filter of its provider, declined.
    Declined,
}

/// Tokens of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read afresh.
    pub input: u64,
    /// Written, thinking included.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Put into the provider's cache.
    pub cache_written: u64,
}

impl Usage {
    /// All of them.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_read).saturating_add(self.cache_written)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_written: self.cache_written.saturating_add(other.cache_written),
        }
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The reply as the model wrote it. Where it answered through a tool, the tool's arguments as JSON.
    pub text: String,
    /// Why it ended.
    pub stop: Stop,
    /// The model that answered, as the server names it.
    pub model: String,
    /// Tokens.
    pub usage: Usage,
    /// What it cost, in millionths of a US dollar; none where no price is known.
    pub cost_microusd: Option<u64>,
    /// How the answer's schema was asked for.
    pub form: Form,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_call_makes_another_digest() {
        let call = Call::new("a", "bc", 10);
        let digest = call.digest("m");
        assert_eq!(digest, call.clone().digest("m"));
        let mut warm = call.clone();
        warm.temperature = Some(0.0);
        let schema = AnswerSchema::new("title", r#"{"type":"object","properties":{},"required":[]}"#).unwrap();
        let others = [
            Call::new("ab", "c", 10),
            Call::new("a", "bc", 11),
            warm,
            call.clone().with_context("c"),
            call.clone().with_answer(Arc::new(schema)),
            Call { turns: vec![call.turns[0].clone(), call.turns[0].clone()], ..call.clone() },
        ];
        for other in others {
            assert_ne!(digest, other.digest("m"), "{other:?}");
        }
        assert_ne!(digest, call.digest("n"));
    }
}
