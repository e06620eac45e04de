//! The body of an import: which coding it has, and its way into a file.

use crate::import::spool::{Source, Spool, SpoolError};
use async_compression::tokio::bufread::{GzipDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use futures::{StreamExt as _, TryStreamExt as _};
use stash_domain::error::Code;
use stash_domain::ids::Digest;
use stash_infra::http::Problem;
use std::io;
use std::path::Path;
use std::pin::Pin;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt as _};
use tokio_util::io::StreamReader;

/// Bytes handed to the file at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// Base-two logarithm of the largest window that a zstd frame may ask for: 8 MiB, what every decoder should support (RFC 8878,
/// 3.1.1.1.2) and all levels but the `--ultra` ones keep to. The decoder holds the window in memory.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Media types of a raw body.
const MEDIA_TYPES: &[&str] = &[
    "application/json",
    "application/jsonl",
    "application/x-ndjson",
    "application/x-jsonlines",
    "application/json-lines",
];

/// An inflated body.
pub(crate) type Raw = Pin<Box<dyn AsyncRead + Send>>;

/// Opens a body by its headers.
///
/// # Errors
/// `unsupported_media_type`.
pub(crate) fn open(headers: &HeaderMap, body: Body) -> Result<Raw, Problem> {
    let refuse = |detail: String| Problem::new(Code::UnsupportedMediaType, detail);
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !MEDIA_TYPES.contains(&essence.as_str()) {
        return Err(refuse(format!(
            "the Content-Type is {kind}; send application/jsonl or application/json, and the format in the query (?format=auto)"
        )));
    }
    let bytes = StreamReader::new(body.into_data_stream().map_err(io::Error::other).fuse());
    let coding = coding(headers)?;
    inflate(&coding, bytes)
        .ok_or_else(|| refuse(format!("the Content-Encoding {coding:?} is none of gzip, zstd, identity")))
}

/// The coding of a body; `identity` if there is none.
///
/// # Errors
/// `unsupported_media_type` for more than one.
pub(crate) fn coding(headers: &HeaderMap) -> Result<String, Problem> {
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok("identity".to_owned()),
        (Some(coding), None) => Ok(coding.to_str().unwrap_or("").trim().to_ascii_lowercase()),
        (Some(_), Some(_)) => Err(Problem::new(Code::UnsupportedMediaType, "more than one Content-Encoding")),
    }
}

/// All members of a gzip body and all frames of a zstd body count.
pub(crate) fn inflate(coding: &str, bytes: impl AsyncBufRead + Send + 'static) -> Option<Raw> {
    match coding {
        "identity" => Some(Box::pin(bytes)),
        "gzip" | "x-gzip" => {
            let mut decoder = GzipDecoder::new(bytes);
            decoder.multiple_members(true);
            Some(Box::pin(decoder))
        }
        "zstd" => {
            let mut decoder = ZstdDecoder::with_params(bytes, &[DParameter::window_log_max(ZSTD_WINDOW_LOG_MAX)]);
            decoder.multiple_members(true);
            Some(Box::pin(decoder))
        }
        _ => None,
    }
}

/// Writes a body to a file in this folder; at most `limit` bytes after inflation.
///
/// # Errors
/// [`SpoolError`].
pub(crate) async fn spool(mut body: Raw, folder: &Path, limit: u64) -> Result<(Source, Digest), SpoolError> {
    let folder = folder.to_owned();
    let mut spool = blocking(move || Spool::create(&folder, limit)).await?;
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    loop {
        chunk.clear();
        // Fills the chunk as far as bytes are there; the decoder gives small pieces.
        while chunk.len() < CHUNK_BYTES {
            let room = (CHUNK_BYTES - chunk.len()) as u64;
            let read = (&mut body).take(room).read_buf(&mut chunk).await.map_err(SpoolError::Broken)?;
            if read == 0 {
                break;
            }
        }
        if chunk.is_empty() {
            return blocking(move || spool.finish()).await;
        }
        (spool, chunk) = blocking(move || {
            spool.write(&chunk)?;
            Ok((spool, chunk))
        })
        .await?;
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SpoolError> + Send + 'static,
) -> Result<T, SpoolError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| SpoolError::Io(io::Error::other("the server is stopping")))?
}
