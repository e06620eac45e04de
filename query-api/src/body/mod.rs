//! Answers of any size, written piece by piece.
//!
//! 1. A task writes; the handler waits for it.
//! 2. Up to [`BUFFERED_MAX`] bytes stay in memory. An answer that ends before is sent whole, with its length; an error until then
//!    gives a proper problem.
//! 3. A longer one takes a place among the long answers (their number is bounded, since each holds a database connection for as
//!    long as its client reads), and is streamed from there on in chunks, at most [`CHUNKS_WAITING`] ahead of the client.
//! 4. An error after that can only break the connection off: the client sees that the answer is not complete. A client that
//!    reads nothing for [`STALL_MAX`] is broken off too.
//!
//! So memory per answer is bounded by [`BUFFERED_MAX`], [`CHUNKS_WAITING`] chunks and the largest single piece.

mod json;
mod writer;

pub(crate) use writer::{BodyError, LongAnswers, Writer};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use std::future::Future;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use writer::Part;

/// Bytes of an answer that are held back before the first is sent.
pub(crate) const BUFFERED_MAX: usize = 1024 * 1024;

/// Bytes of a chunk, give or take one piece.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;

/// Chunks that may wait for the client.
pub(crate) const CHUNKS_WAITING: usize = 4;

/// How long a client may read nothing. Below the 60 s after which the database ends an idle transaction.
pub(crate) const STALL_MAX: Duration = Duration::from_secs(30);

/// How long a long answer waits for its place.
pub(crate) const PLACE_WAIT_MAX: Duration = Duration::from_secs(5);

/// One JSON value.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// One JSON value a line.
pub(crate) const JSON_LINES: HeaderValue = HeaderValue::from_static("application/jsonl");

/// Answers with what `work` writes.
///
/// # Errors
/// The error of `work`, as long as nothing was sent.
pub(crate) async fn respond<W, F>(media_type: HeaderValue, places: &LongAnswers, work: W) -> Result<Response, BodyError>
where
    W: FnOnce(Writer) -> F,
    F: Future<Output = Result<Writer, BodyError>> + Send + 'static,
{
    let (started, start) = oneshot::channel();
    let work = work(Writer::new(started, places.clone()));
    let task = tokio::spawn(async move {
        let written = async { work.await?.end().await }.await;
        if let Err(error @ (BodyError::Database(_) | BodyError::Damaged(_))) = &written {
            tracing::error!(%error, "an answer could not be written");
        }
        written
    });
    let body = match start.await {
        Ok(parts) => Body::from_stream(stream(parts)),
        // The writer is gone without having started to stream: the task has ended.
        Err(_) => Body::from(task.await.map_err(|_| BodyError::Panicked)??),
    };
    Ok(([(CONTENT_TYPE, media_type)], body).into_response())
}

/// The chunks; an error at the end unless the writer has said that it is done. A task that failed or panicked has not.
fn stream(parts: mpsc::Receiver<Part>) -> impl futures::Stream<Item = Result<Bytes, BodyError>> + Send + 'static {
    futures::stream::unfold(Some(parts), |parts| async move {
        let mut parts = parts?;
        match parts.recv().await {
            Some(Part::Chunk(chunk)) => Some((Ok(chunk), Some(parts))),
            Some(Part::End) => None,
            None => Some((Err(BodyError::Incomplete), None)),
        }
    })
}

#[cfg(test)]
mod tests;
