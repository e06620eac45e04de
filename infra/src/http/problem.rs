//! Error answers: `application/problem+json` (RFC 9457), one shape for every route.
//!
//! A detail says what was wrong, where, and what to do. It never holds a stack trace, a path of the server or SQL: errors that
//! are not the caller's are logged with the request id, and the answer says only that.

use crate::event_log::LogError;
use crate::http::request_id;
use crate::identity::{IdentityError, LookUpError};
use crate::postgres::{is_full, is_unavailable};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stash_domain::error::Code;
use std::borrow::Cow;
use utoipa::ToSchema;

/// Seconds after which a caller may try again when the log or the database is away.
pub const RETRY_AFTER_S: u32 = 1;

/// Characters of a detail; longer ones are cut (a parser may quote its input).
const DETAIL_CHARS_MAX: usize = 1000;

/// Media type of error answers.
const MEDIA_TYPE: &str = "application/problem+json";

/// What an error answer holds.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ProblemBody {
    /// Page that explains the code: `/docs/errors/<code>`.
    #[serde(rename = "type")]
    #[schema(example = "/docs/errors/not_found")]
    pub kind: String,
    /// A short summary that is the same each time.
    pub title: Cow<'static, str>,
    /// The HTTP status.
    pub status: u16,
    /// What was wrong this time, where, and what to do.
    pub detail: String,
    /// Names the request in the server's log.
    pub request_id: String,
    /// Further members, by code: `current_version` of a conflict, `trace_id` of what was not found.
    #[serde(flatten)]
    #[schema(additional_properties)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// An error answer in the making.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    code: Code,
    detail: String,
    retry_after_s: Option<u32>,
    extra: serde_json::Map<String, serde_json::Value>,
}

impl Problem {
    /// An answer with this code. Unavailability gets `Retry-After` by itself.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let retry_after_s = matches!(code.status(), 429 | 503).then_some(RETRY_AFTER_S);
        let mut detail: String = detail.into();
        if let Some((end, _)) = detail.char_indices().nth(DETAIL_CHARS_MAX) {
            detail.truncate(end);
            detail.push('…');
        }
        Self { code, detail, retry_after_s, extra: serde_json::Map::new() }
    }

    /// Adds a member beside the standard ones.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.extra.insert(name.to_owned(), value.into());
        self
    }

    /// Says when to try again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// A fault of ours. The cause goes to the log, the caller gets the request id.
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(error = %cause, "a request failed by a fault of Stash");
        Self::new(Code::Internal, "this is a fault of Stash; its log has the cause under the request id")
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The detail.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The body as it is sent now, with the id of the current request.
    pub fn body(&self) -> ProblemBody {
        ProblemBody {
            kind: format!("/docs/errors/{}", self.code.as_str()),
            title: self.code.title().into(),
            status: self.code.status(),
            detail: self.detail.clone(),
            request_id: request_id::current(),
            extra: self.extra.clone(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, MEDIA_TYPE)], body).into_response();
        if self.code == Code::Unauthorized {
            let challenge = HeaderValue::from_static("Bearer realm=\"stash\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self.code);
        response
    }
}

impl From<&sqlx::Error> for Problem {
    fn from(error: &sqlx::Error) -> Self {
        if is_full(error) {
            tracing::error!(%error, "the database has no space left");
            Self::new(Code::StorageFull, "the server's disk is full; nothing was changed; free space and try again")
        } else if is_unavailable(error) {
            tracing::warn!(%error, "the database does not answer");
            Self::new(Code::Unavailable, "the database does not answer at the moment; try again")
        } else {
            Self::internal(error)
        }
    }
}

impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&IdentityError> for Problem {
    fn from(error: &IdentityError) -> Self {
        match error {
            IdentityError::Database(error) => Self::from(error),
            IdentityError::NoAccount => Self::new(Code::NotFound, error.to_string()),
            IdentityError::Damaged(_) | IdentityError::NoRandomness => Self::internal(error),
            IdentityError::BadEmail(_)
            | IdentityError::BadName(_)
            | IdentityError::TooManyKeys(_)
            | IdentityError::AlreadyExpired => Self::new(Code::InvalidField, error.to_string()),
        }
    }
}

impl From<IdentityError> for Problem {
    fn from(error: IdentityError) -> Self {
        Self::from(&error)
    }
}

impl From<LookUpError> for Problem {
    fn from(error: LookUpError) -> Self {
        Self::from(&*error.0)
    }
}

impl From<LogError> for Problem {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Full(_) => {
                tracing::error!(%error, "the event log has no space left");
                Self::new(Code::StorageFull, "the server has no space for more records; nothing was changed")
            }
            LogError::TooLarge { size, limit } => Self::new(
                Code::TooLarge,
                format!("the request makes a record of {size} bytes, and the limit is {limit}; send it in parts"),
            ),
            LogError::Unavailable(_) | LogError::Unknown(_) => {
                tracing::warn!(%error, "the event log does not answer");
                let detail = "the event log does not answer at the moment; try again with the same Idempotency-Key";
                Self::new(Code::Unavailable, detail)
            }
            LogError::Corrupt(_) => Self::internal(&error),
        }
    }
}
