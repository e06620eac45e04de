//! Who calls: the key is checked before anything of the body is read.
//!
//! [`require`] is a layer over whole routers, so a new route is closed unless it is put elsewhere on purpose; handlers take the
//! [`Caller`] as an argument. Read-only keys may read, and ask `POST` queries named in [`READING_POSTS`].

use crate::http::problem::Problem;
use crate::identity::{Caller, Identity, Scope};
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use stash_domain::error::Code;
use std::sync::Arc;

/// Routes whose `POST` only reads.
pub const READING_POSTS: &[&str] = &["/api/v1/rm/query"];

/// Lets through who has a working key whose scope allows the request; puts the [`Caller`] among its extensions.
pub async fn require(State(identity): State<Arc<Identity>>, mut request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    match admit(&identity, request.method(), route, request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Lets through whose account may use reward models. Goes inside [`require`].
pub async fn require_reward_models(caller: Caller, request: Request, next: Next) -> Response {
    if caller.reward_models_enabled {
        return next.run(request).await;
    }
    let detail = "an operator has switched reward models off for this account; its data are kept";
    Problem::new(Code::RewardModelsDisabled, detail).into_response()
}

async fn admit(
    identity: &Identity,
    method: &Method,
    route: Option<&str>,
    headers: &HeaderMap,
) -> Result<Caller, Problem> {
    let key = bearer(headers)?;
    let Some(caller) = identity.authenticate(key).await? else {
        return Err(Problem::new(Code::Unauthorized, "the API key is unknown, revoked or expired"));
    };
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
        || (*method == Method::POST && route.is_some_and(|route| READING_POSTS.contains(&route)));
    if caller.scope == Scope::ReadOnly && !reads {
        let detail = format!("this API key is read-only and may not {method}; use a key with full access");
        return Err(Problem::new(Code::ForbiddenScope, detail));
    }
    Ok(caller)
}

/// The key in `Authorization: Bearer <key>`.
fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let refuse = |detail: &str| Problem::new(Code::Unauthorized, detail);
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(refuse("send the API key as: Authorization: Bearer <key>"));
    };
    if values.next().is_some() {
        return Err(refuse("more than one Authorization header"));
    }
    let text = value.to_str().map_err(|_| refuse("the Authorization header holds characters outside ASCII"))?;
    match text.split_once(' ') {
        // The scheme's case does not matter (RFC 9110, 11.1).
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(key.trim()),
        _ => Err(refuse("the Authorization header is not of the form: Bearer <key>")),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // Absent only if a route stands outside of `require`: then it must not be answered.
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Problem::internal(&"a route that needs a caller lacks the layer that finds it"))
    }
}
