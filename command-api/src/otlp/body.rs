//! Reads a request's body: inflated, bounded, and no more at once than fits.

use crate::CommandState;
use crate::raw_body;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use futures::{StreamExt as _, TryStreamExt as _};
use stash_domain::error::Code;
use stash_infra::http::Problem;
use std::io;
use tokio::io::AsyncReadExt as _;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::io::StreamReader;

/// Bytes of all bodies that are held at once in one process, inflated. What is decoded from them takes about three times as much.
/// Beyond, requests are answered with 429, on which exporters wait and send again.
pub const BODIES_BYTES_AT_ONCE: usize = 48 * 1024 * 1024;

/// Bytes of one permit, and how much is read at a time.
pub const PERMIT_BYTES: usize = 64 * 1024;

/// A body in memory. The permit is given back with it.
pub(super) struct Held {
    pub(super) bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

/// Reads a body.
///
/// # Errors
/// `unsupported_media_type` for a coding other than gzip; `too_large`; `rate_limited`; `invalid_request` when it breaks off or is no
/// gzip.
pub(super) async fn read(state: &CommandState, headers: &HeaderMap, body: Body) -> Result<Held, Problem> {
    let limit = state.otlp_bytes_max;
    let coding = raw_body::coding(headers)?;
    if !matches!(coding.as_str(), "identity" | "gzip" | "x-gzip") {
        let detail = format!("the Content-Encoding {coding:?} is not taken here; send gzip, or none");
        return Err(Problem::new(Code::UnsupportedMediaType, detail));
    }
    if !headers.contains_key(header::CONTENT_ENCODING) {
        stash_infra::http::body::refuse_declared_length(headers, limit)?;
    }
    let stream = StreamReader::new(body.into_data_stream().map_err(io::Error::other).fuse());
    let mut inflated = raw_body::inflate(&coding, stream)
        .ok_or_else(|| Problem::new(Code::UnsupportedMediaType, format!("the Content-Encoding is {coding:?}")))?;
    let mut room = take_room(state, 1)?;
    let mut bytes = BytesMut::with_capacity(PERMIT_BYTES);
    loop {
        if bytes.len() == bytes.capacity() {
            let more = bytes.len().max(PERMIT_BYTES);
            room.merge(take_room(state, more.div_ceil(PERMIT_BYTES))?);
            bytes.reserve(more);
        }
        let read = inflated.read_buf(&mut bytes).await.map_err(|error| {
            Problem::new(Code::InvalidRequest, format!("the body broke off, or is not what its coding says: {error}"))
        })?;
        if read == 0 {
            return Ok(Held { bytes: bytes.freeze(), _room: room });
        }
        if bytes.len() > limit {
            let detail = format!("the body has more than {limit} bytes when inflated; export in smaller batches");
            return Err(Problem::new(Code::TooLarge, detail));
        }
    }
}

fn take_room(state: &CommandState, permits: usize) -> Result<OwnedSemaphorePermit, Problem> {
    let permits = u32::try_from(permits).unwrap_or(u32::MAX);
    state.otlp_room.clone().try_acquire_many_owned(permits).map_err(|_| {
        let detail = "more spans come in at once than the server holds in memory; send this again";
        Problem::new(Code::RateLimited, detail)
    })
}
