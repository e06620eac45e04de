//! Ids in paths, read as the read routes read them: what is no id is 400, an id of nothing 404.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use stash_domain::error::Code;
use stash_domain::ids::{OwnerId, TraceId, trace_id_of};
use stash_infra::http::Problem;
use std::str::FromStr;

/// What an external id begins with in a path.
const EXTERNAL: &str = "external:";

/// Characters of what a path says instead of an id that an answer repeats.
const SHOWN_CHARS_MAX: usize = 64;

/// The `{trace_id}` of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TracePath {
    /// An id.
    Id(TraceId),
    /// `external:` and the id that the trace has where it was recorded.
    External(String),
}

impl TracePath {
    /// The trace's id; that of a trace with an external id is derived from it.
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
                let detail = format!("there is no trace with the external id {:?}", shown(external));
                Problem::new(Code::NotFound, detail)
            }
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for TracePath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = segment(parts, state).await?;
        match text.strip_prefix(EXTERNAL) {
            Some(external) => Ok(Self::External(external.to_owned())),
            None => id(&text).map(Self::Id),
        }
    }
}

/// The one id of a path, of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id<T>(pub T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        id(&segment(parts, state).await?).map(Self)
    }
}

fn id<T: FromStr>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| {
        let detail = format!("the id in the path must be a UUID, not {:?}", shown(text));
        Problem::new(Code::InvalidRequest, detail)
    })
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

async fn segment<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<String, Problem> {
    let path = Path::<String>::from_request_parts(parts, state).await;
    let bad = |_| Problem::new(Code::InvalidRequest, "the id in the path is no percent-encoded UTF-8");
    Ok(path.map_err(bad)?.0)
}
