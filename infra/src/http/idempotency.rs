//! `Idempotency-Key`: a request that is sent again changes nothing and gets the first one's outcome.
//!
//! The command's id is derived from owner, route and key. The record keeps a digest of the whole request (method, path with its
//! ids, query, body), so that the same key with another request is found out and refused.

use crate::http::problem::Problem;
use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::request::Parts;
use axum::http::{HeaderName, Method, Uri};
use stash_domain::error::Code;
use stash_domain::ids::{CommandId, Digest, OwnerId, idempotent_command};
use uuid::Uuid;

/// The header.
pub static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Characters of a key.
const CHARS_MAX: usize = 255;

/// The identity of a request that changes something: take it as an argument of the handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    key: Option<String>,
    route: String,
    head: Vec<u8>,
}

impl Idempotency {
    /// The id of the request's command: the same for each repeat with a key, a fresh one without.
    pub fn command_id(&self, owner: OwnerId) -> CommandId {
        match &self.key {
            Some(key) => idempotent_command(owner, &self.route, key),
            None => CommandId(Uuid::now_v7()),
        }
    }

    /// The digest of the request, given its body (empty if it has none).
    pub fn digest(&self, body: &[u8]) -> Digest {
        Digest::of(&[self.head.as_slice(), body].concat())
    }

    /// The digest of the request, given the digest of a body that is too large to hold.
    pub fn digest_of_digest(&self, body: Digest) -> Digest {
        self.digest(&body.0)
    }

    /// Whether the caller gave a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    fn new(method: &Method, route: &str, uri: &Uri, key: Option<String>) -> Self {
        let target = uri.path_and_query().map_or(uri.path(), |target| target.as_str());
        // Neither a method nor a target holds a line break.
        let head = format!("{method}\n{target}\n").into_bytes();
        Self { key, route: format!("{method} {route}"), head }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Idempotency {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let refuse = |what: &str| Problem::new(Code::InvalidRequest, format!("Idempotency-Key: {what}"));
        let mut values = parts.headers.get_all(&IDEMPOTENCY_KEY).iter();
        let key = match (values.next(), values.next()) {
            (None, _) => None,
            (Some(_), Some(_)) => return Err(refuse("given more than once")),
            (Some(value), None) => {
                let visible = value.as_bytes().iter().all(u8::is_ascii_graphic);
                if !visible || !(1..=CHARS_MAX).contains(&value.len()) {
                    return Err(refuse("must be 1 to 255 visible ASCII characters, without spaces"));
                }
                value.to_str().ok().map(str::to_owned)
            }
        };
        let route = parts.extensions.get::<MatchedPath>().map_or(parts.uri.path(), MatchedPath::as_str);
        Ok(Self::new(&parts.method, route, &parts.uri, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(uri: &'static str, key: Option<&str>) -> Idempotency {
        Idempotency::new(&Method::DELETE, "/traces/{id}", &Uri::from_static(uri), key.map(str::to_owned))
    }

    #[test]
    fn the_same_key_is_the_same_command_and_another_target_another_digest() {
        let owner = OwnerId(Uuid::from_u128(1));
        let (a, b) = (request("/traces/a", Some("k")), request("/traces/b", Some("k")));
        assert_eq!(a.command_id(owner), b.command_id(owner));
        assert_ne!(a.digest(b""), b.digest(b""));
        assert_eq!(a.digest(b""), request("/traces/a", Some("k")).digest(b""));
        assert_ne!(a.command_id(owner), a.command_id(OwnerId(Uuid::from_u128(2))));
    }

    #[test]
    fn without_a_key_every_request_is_a_command_of_its_own() {
        let owner = OwnerId(Uuid::from_u128(1));
        let a = request("/traces/a", None);
        assert_ne!(a.command_id(owner), a.command_id(owner));
    }
}
