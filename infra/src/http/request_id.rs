//! A name for each request, which its answer, its errors and its log lines share.
//!
//! A caller (or a proxy) may give it as `X-Request-Id`; anything but a short token is replaced by a fresh UUIDv7, so that
//! nothing of a caller's choice can break a log line.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;
use uuid::Uuid;

/// The header, in requests and answers.
pub static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Bytes of an id that a caller may choose.
const BYTES_MAX: usize = 64;

tokio::task_local! {
    static CURRENT: Arc<str>;
}

/// The id of a request, among the request's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

/// The id of the request that this task answers; empty outside of one.
pub fn current() -> String {
    CURRENT.try_with(|id| id.to_string()).unwrap_or_default()
}

/// Gives the request its id: outermost of all layers.
pub async fn assign(mut request: Request, next: Next) -> Response {
    let given =
        request.headers().get(&X_REQUEST_ID).and_then(|value| value.to_str().ok()).filter(|text| is_token(text));
    let id: Arc<str> = given.map_or_else(|| Uuid::now_v7().to_string().into(), Into::into);
    request.extensions_mut().insert(RequestId(Arc::clone(&id)));
    let mut response = CURRENT.scope(Arc::clone(&id), next.run(request)).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(X_REQUEST_ID.clone(), value);
    }
    response
}

fn is_token(text: &str) -> bool {
    (1..=BYTES_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_tokens_are_taken_over() {
        assert!(is_token("7f3a-4.b_C"));
        for bad in ["", "two words", "line\nbreak", "é", &"x".repeat(65)] {
            assert!(!is_token(bad), "{bad:?}");
        }
    }
}
