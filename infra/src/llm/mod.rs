//! Access to language models, which judge what agents did.
//!
//! Two wire formats (Anthropic Messages and OpenAI's chat completions) serve every provider of [`providers`].
//!
//! ```text
//! ask (validate, one repair round, journal) ─▶ Llm::complete (forms of structured output, budget)
//!                                                 ─▶ transport (one host's limit, retries, bounds) ─▶ HTTP
//! ```
//! - [`call`]: what is asked and what comes back; [`ask`]: until the answer is what was asked for
//! - [`model`], [`providers`], [`endpoint`]: from a model's string to an address and a key
//! - [`client`]: one model's [`Llm`]; [`form`]: how an answer of a schema is asked for, and what a server does not take
//! - [`wire`]: the two formats; [`schema`]: answers' schemas, checked here and put into each provider's dialect
//! - [`transport`]: one request, its retries, and how many run at a host at once
//! - [`budget`], [`prices`]: what calls take; [`consent`]: whether an account allows them
//!
//! Invariants: a key is in no error, no log line and no [`Debug`] text; nor is any content of a call. Every answer is bounded in
//! bytes and in time, every wait in length, every retry in number.

pub mod ask;
pub mod budget;
pub mod call;
pub mod client;
pub mod consent;
pub mod endpoint;
pub mod error;
mod extract;
pub mod form;
pub mod model;
pub mod prices;
pub mod providers;
pub mod schema;
pub mod transport;
mod wire;

pub use ask::{Answered, Finished, Journal, Kept, NoJournal, ask};
pub use budget::Budget;
pub use call::{Call, Reply, Speaker, Stop, Turn, Usage};
pub use client::Llms;
pub use consent::Consenting;
pub use error::LlmError;
pub use schema::AnswerSchema;

use async_trait::async_trait;

/// One language model.
#[async_trait]
pub trait Llm: Send + Sync {
    /// Its string, as it was configured.
    fn model(&self) -> &str;

    /// One call: it is sent, and sent again where that may help. What it took is spent from the budget, also when nobody waits
    /// for it any more.
    ///
    /// # Errors
    /// [`LlmError`]. A reply whose text is not what the schema asks for is no error here: see [`ask`](ask::ask).
    async fn complete(&self, call: &Call, budget: &Budget) -> Result<Reply, LlmError>;
}
