//! `If-Match`: a change that holds only if nobody else changed the thing meanwhile.

use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponseParts, ResponseParts};
use stash_domain::error::Code;
use stash_domain::record::Expected;
use std::convert::Infallible;

/// The version that a request names, if it does: `If-Match: "3"`. `*` names none: the thing must exist, which every change
/// needs anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfMatch(pub Option<u64>);

impl IfMatch {
    /// What the command expects of the stream.
    pub fn expected(self) -> Expected {
        self.0.map_or(Expected::Any, Expected::Version)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut values = parts.headers.get_all(header::IF_MATCH).iter();
        let parsed = match (values.next(), values.next()) {
            (None, _) => Some(None),
            (Some(value), None) => value.to_str().ok().and_then(|text| match text.trim() {
                "*" => Some(None),
                tag => tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok().map(Some),
            }),
            (Some(_), Some(_)) => None,
        };
        let detail = "If-Match: expected one ETag as an earlier answer gave it, such as \"3\"";
        parsed.map(Self).ok_or_else(|| Problem::new(Code::InvalidRequest, detail))
    }
}

/// Puts a thing's version into an answer, for a later `If-Match`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ETag(pub u64);

impl IntoResponseParts for ETag {
    type Error = Infallible;

    fn into_response_parts(self, mut parts: ResponseParts) -> Result<ResponseParts, Infallible> {
        if let Ok(value) = HeaderValue::from_str(&format!("\"{}\"", self.0)) {
            parts.headers_mut().insert(header::ETAG, value);
        }
        Ok(parts)
    }
}
