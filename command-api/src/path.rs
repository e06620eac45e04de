//! Ids in paths. What is no id names nothing, so it is answered with 404.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use stash_domain::error::Code;
use stash_domain::ids::{OwnerId, TraceId, trace_id_of};
use stash_infra::http::Problem;
use std::str::FromStr;

/// The `{trace_id}` of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TracePath {
    /// An id.
    Id(TraceId),
    /// `external:` and the id that the trace has where it was recorded.
    External(String),
}

impl TracePath {
    /// The trace's id.
    pub fn id(&self, owner: OwnerId) -> TraceId {
        match self {
            Self::Id(id) => *id,
            Self::External(external) => trace_id_of(owner, external),
        }
    }

    /// The answer when the caller has no such trace.
    pub fn not_found(&self) -> Problem {
        match self {
            Self::Id(id) => Problem::new(Code::NotFound, format!("there is no trace {id}")),
            Self::External(external) => {
                Problem::new(Code::NotFound, format!("there is no trace with the external id {external:?}"))
            }
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for TracePath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = segment(parts, state).await?;
        if let Some(external) = text.strip_prefix("external:") {
            return Ok(Self::External(external.to_owned()));
        }
        text.parse().map(Self::Id).map_err(|_| Problem::new(Code::NotFound, format!("there is no trace {text:?}")))
    }
}

/// The one id of a path, of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id<T>(pub T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = segment(parts, state).await?;
        text.parse().map(Self).map_err(|_| Problem::new(Code::NotFound, format!("{text:?} is not an id")))
    }
}

async fn segment<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<String, Problem> {
    let path = Path::<String>::from_request_parts(parts, state).await;
    let Path(text) = path.map_err(|error| Problem::new(Code::InvalidRequest, error.to_string()))?;
    Ok(text)
}
