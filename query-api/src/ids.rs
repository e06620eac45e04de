//! Ids in paths.

use crate::errors::Failure;
use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use stash_domain::error::Code;
use stash_domain::ids::{OwnerId, TraceId, trace_id_of};
use stash_domain::limits::EXTERNAL_ID_CHARS_MAX;
use stash_infra::http::Problem;
use uuid::Uuid;

/// The id in a path, decoded and not yet read.
#[derive(Clone, Debug)]
pub(crate) struct PathId(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let bad = |_| Problem::new(Code::InvalidRequest, "the id in the path is no percent-encoded UTF-8");
        Ok(Self(path.map_err(bad)?.0))
    }
}

/// What an external id begins with in a path.
const EXTERNAL: &str = "external:";

/// The trace that a path names: its id, or `external:` and the id it has where it was recorded. The latter needs no look-up,
/// since the id of such a trace is derived from it.
pub(crate) fn trace_id(owner: OwnerId, text: &str) -> Result<TraceId, Failure> {
    match text.strip_prefix(EXTERNAL) {
        // Longer ones are refused on import.
        Some(external) if external.chars().count() > EXTERNAL_ID_CHARS_MAX => {
            Err(Failure::not_found("trace", "of this id"))
        }
        Some(external) => Ok(trace_id_of(owner, external)),
        None => uuid(text).map(TraceId),
    }
}

/// A UUID in a path.
pub(crate) fn uuid(text: &str) -> Result<Uuid, Failure> {
    Uuid::parse_str(text).map_err(|_| {
        let shown: String = text.chars().take(64).collect();
        Problem::new(Code::InvalidRequest, format!("the id in the path must be a UUID, not {shown:?}")).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_named_by_either_id() {
        let owner = OwnerId(Uuid::from_u128(1));
        let id = Uuid::from_u128(7);
        assert_eq!(trace_id(owner, &id.to_string()).unwrap(), TraceId(id));
        assert_eq!(trace_id(owner, "external:a/b").unwrap(), trace_id_of(owner, "a/b"));
        assert_eq!(trace_id(owner, "x").unwrap_err().0.code(), Code::InvalidRequest);
        assert_eq!(trace_id(owner, &format!("external:{}", "x".repeat(600))).unwrap_err().0.code(), Code::NotFound);
    }
}
