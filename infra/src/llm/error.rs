//! Why a call failed.

use std::time::Duration;

/// A call failed. No text in here holds a key or content of a call, so all of it may be logged and shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The model's string names no provider that is known here.
    #[error("the model {model:?} is not known: {reason}")]
    UnknownModel {
        /// The string.
        model: String,
        /// What was expected.
        reason: String,
    },
    /// A setting is missing or wrong.
    #[error("the model {model} cannot be used: {reason}")]
    NotConfigured {
        /// The model's string.
        model: String,
        /// Which setting, and what to do.
        reason: String,
    },
    /// The server refused the request; sending it again would not help.
    #[error("{host} refused the request ({status}): {message}")]
    Refused {
        /// The server.
        host: String,
        /// HTTP status.
        status: u16,
        /// What the server says, shortened; without anything of the request.
        message: String,
    },
    /// The server wants fewer requests, for longer than is waited here.
    #[error("{host} takes no requests for now{}", .retry_after.map(|wait| format!(" ({} s)", wait.as_secs())).unwrap_or_default())]
    RateLimited {
        /// The server.
        host: String,
        /// How long it asked to wait.
        retry_after: Option<Duration>,
    },
    /// The server could not be reached, took too long, or failed, also after retries.
    #[error("{host} cannot be used: {reason}")]
    Unavailable {
        /// The server.
        host: String,
        /// What happened last.
        reason: String,
    },
    /// The server answers with something that is no answer.
    #[error("{host} answers with what is no answer of its interface: {reason}")]
    BadResponse {
        /// The server.
        host: String,
        /// What was wrong.
        reason: String,
    },
    /// The budget is spent; nothing was sent.
    #[error("the budget for language models is spent: {0}")]
    BudgetSpent(String),
    /// The answer is not what was asked for, also after it was asked to mend it.
    #[error("the model {model} did not answer as asked, also after one repair: {reason}")]
    Malformed {
        /// The model's string.
        model: String,
        /// What the check says; it names fields, never their content.
        reason: String,
    },
    /// The model, or a filter of its provider, declined.
    #[error("the model {model} declined to answer")]
    Declined {
        /// The model's string.
        model: String,
    },
    /// The account whose content would be sent does not allow it; nothing was sent.
    #[error("this account does not allow language models to be used for {0}")]
    SwitchedOff(&'static str),
    /// The journal of calls cannot be read or written.
    #[error("finished calls cannot be kept: {0}")]
    Journal(String),
}

impl LlmError {
    /// Whether the same call may go better later.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. } | Self::Unavailable { .. } | Self::BadResponse { .. } | Self::Journal(_)
        )
    }
}
