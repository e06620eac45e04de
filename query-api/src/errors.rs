//! From failures to error answers.

use crate::body::BodyError;
use axum::response::{IntoResponse, Response};
use stash_domain::error::Code;
use stash_infra::http::Problem;

/// Why a request was not answered. Exists because `?` must turn database errors into this crate's reading of them.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) Problem);

impl Failure {
    /// There is no such thing, or it is someone else's.
    pub(crate) fn not_found(kind: &str, id: impl std::fmt::Display) -> Self {
        Self(Problem::new(Code::NotFound, format!("there is no {kind} {id}")))
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        // 57014: the statement ran longer than the connection allows, which only an expensive filter can make it.
        if error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "57014") {
            let detail = "the request took too long to answer; narrow it by time, format or external_id";
            return Self(Problem::new(Code::Unavailable, detail));
        }
        Self(error.into())
    }
}

impl From<BodyError> for Failure {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Database(error) => error.into(),
            BodyError::Busy => {
                let detail = "too many large answers are being read at once; try again when one has ended";
                Self(Problem::new(Code::RateLimited, detail))
            }
            error => Self(Problem::internal(&error)),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}
