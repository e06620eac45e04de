//! A bound on how long a request waits for its answer.
//!
//! Postgres and the log are asked with bounds of their own wherever a hang is likely; this is the last one, for a server that
//! keeps its connections and answers nothing. An import may be large and so take longer, but only as long as the database answers.

use crate::http::problem::Problem;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sqlx::{Connection as _, PgPool};
use stash_domain::error::Code;
use std::time::Duration;
use tokio::time::timeout;

/// Longest wait until an answer begins; longer than any statement of a request may take (15 s), so that those mostly decide.
pub const ANSWER_MAX: Duration = Duration::from_secs(20);

/// How long the database may take to show that it answers.
const PING_MAX: Duration = Duration::from_secs(5);

/// Routes that may take longer while the database answers.
const LONG: &str = "/traces/import";

/// Answers with 503 what is not answered in time. The work is dropped; a change may have been made all the same, which its
/// `Idempotency-Key` tells.
pub async fn bound(State(pool): State<PgPool>, request: Request, next: Next) -> Response {
    let long = request.extensions().get::<MatchedPath>().is_some_and(|path| path.as_str().ends_with(LONG));
    let answer = next.run(request);
    tokio::pin!(answer);
    loop {
        if let Ok(response) = timeout(ANSWER_MAX, &mut answer).await {
            return response;
        }
        if !long || !answers(&pool).await {
            tracing::warn!("a request was not answered within {} s", ANSWER_MAX.as_secs());
            let detail = "the server could not answer in time; try again, a change with the same Idempotency-Key";
            return Problem::new(Code::Unavailable, detail).into_response();
        }
    }
}

/// Whether the database answers.
async fn answers(pool: &PgPool) -> bool {
    let ping = async { pool.acquire().await?.ping().await };
    matches!(timeout(PING_MAX, ping).await, Ok(Ok(())))
}
