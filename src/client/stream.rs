//! Bodies of any size, in both directions.

use super::{ApiError, Client, IDEMPOTENCY_KEY, PAUSE, TRY_MAX, is_pending, take};
use anyhow::Context as _;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use indicatif::ProgressBar;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{Body, Method};
use serde_json::Value;
use std::path::Path;
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

/// Bytes read from a file at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// A file on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upload<'a> {
    /// The route and its parameters.
    pub(crate) path: &'a str,
    /// The file.
    pub(crate) file: &'a Path,
    /// How many of its bytes are sent.
    pub(crate) bytes: u64,
    /// Key of the command.
    pub(crate) key: &'a str,
}

impl Client {
    /// Sends a file as it is, and moves the bar with it. Tries again while the server is there and cannot answer now.
    pub(crate) async fn upload(&self, upload: Upload<'_>, bar: &ProgressBar) -> anyhow::Result<Value> {
        let (begin, first) = (Instant::now(), bar.position());
        loop {
            bar.set_position(first);
            let answer = self.upload_once(&upload, bar).await;
            match answer {
                Err(error)
                    if error.downcast_ref::<ApiError>().is_some_and(ApiError::may_pass)
                        && begin.elapsed() + PAUSE < TRY_MAX =>
                {
                    tokio::time::sleep(PAUSE).await;
                }
                answer => return answer,
            }
        }
    }

    async fn upload_once(&self, upload: &Upload<'_>, bar: &ProgressBar) -> anyhow::Result<Value> {
        let file = upload.file;
        let opened = tokio::fs::File::open(file).await.with_context(|| format!("{} cannot be read", file.display()))?;
        let moved = bar.clone();
        // No more than was there when it was looked at: it may be growing.
        let bytes = ReaderStream::with_capacity(opened.take(upload.bytes), CHUNK_BYTES)
            .inspect_ok(move |chunk| moved.inc(chunk.len() as u64));
        self.upload_stream(upload.path, upload.key, coding_of(file), upload.bytes, bytes).await
    }

    /// Sends bytes of a known number, as a command with this key.
    pub(crate) async fn upload_stream<S, B, E>(
        &self,
        path: &str,
        key: &str,
        coding: Option<&'static str>,
        length: u64,
        bytes: S,
    ) -> anyhow::Result<Value>
    where
        S: Stream<Item = Result<B, E>> + Send + Sync + 'static,
        B: 'static,
        axum::body::Bytes: From<B>,
        E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
    {
        let mut request = self
            .request(Method::POST, path)
            .header(IDEMPOTENCY_KEY, key)
            .header(CONTENT_TYPE, "application/jsonl")
            .header(CONTENT_LENGTH, length)
            .body(Body::wrap_stream(bytes));
        if let Some(coding) = coding {
            request = request.header(CONTENT_ENCODING, coding);
        }
        let value = take(self.send(request).await?).await?;
        if is_pending(&value) {
            self.wait_accepted(&value).await?;
        }
        Ok(value)
    }

    /// Waits until a pending command is accepted.
    async fn wait_accepted(&self, pending: &Value) -> anyhow::Result<()> {
        let id = pending.get("command_id").and_then(Value::as_str).unwrap_or_default();
        let begin = Instant::now();
        loop {
            // The server itself waits for news before it answers.
            let status = self.get(&format!("/commands/{id}")).await?;
            match status.get("state").and_then(Value::as_str) {
                Some("accepted") => return Ok(()),
                Some("pending") if begin.elapsed() < TRY_MAX => {}
                _ => return Err(ApiError::pending().into()),
            }
        }
    }

    /// Fetches an answer of any size into a writer. Returns the number of bytes.
    pub(crate) async fn download(
        &self,
        path: &str,
        to: &mut (impl AsyncWrite + Unpin),
        bar: &ProgressBar,
    ) -> anyhow::Result<u64> {
        let request = self.request(Method::GET, path);
        self.copy(request, to, bar).await
    }

    /// Fetches what a link of the server names, without the key.
    pub(crate) async fn download_link(
        &self,
        link: &str,
        to: &mut (impl AsyncWrite + Unpin),
        bar: &ProgressBar,
    ) -> anyhow::Result<u64> {
        let link = if link.starts_with('/') { format!("{}{link}", self.url) } else { link.to_owned() };
        let request = reqwest::Client::builder().no_proxy().build()?.get(link);
        self.copy(request, to, bar).await
    }

    async fn copy(
        &self,
        request: reqwest::RequestBuilder,
        to: &mut (impl AsyncWrite + Unpin),
        bar: &ProgressBar,
    ) -> anyhow::Result<u64> {
        let response = self.send(request).await?;
        if !response.status().is_success() {
            take(response).await?;
            anyhow::bail!("the server gave nothing");
        }
        if let Some(length) = response.content_length() {
            bar.set_length(length);
        }
        let mut written = 0;
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.context("the answer broke off")?;
            to.write_all(&chunk).await?;
            written += chunk.len() as u64;
            bar.inc(chunk.len() as u64);
        }
        to.flush().await?;
        Ok(written)
    }
}

/// The coding that a file's name tells of.
fn coding_of(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "gz" => Some("gzip"),
        "zst" => Some("zstd"),
        _ => None,
    }
}
