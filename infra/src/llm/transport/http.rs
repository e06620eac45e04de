//! The request itself.

use super::{Fault, Incoming, Outgoing, Post};
use async_trait::async_trait;
use std::time::Duration;

/// Bytes of a response. A reply of 100,000 tokens has half a megabyte.
const RESPONSE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long a connection may take to come about.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Sends requests over HTTP.
pub struct HttpPost {
    client: reqwest::Client,
    timeout: Duration,
}

impl HttpPost {
    /// One whose requests may take so long, from the first byte to the last.
    ///
    /// # Errors
    /// Where the system's TLS certificates cannot be read.
    pub fn new(timeout: Duration) -> Result<Self, String> {
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_MAX)
            // A redirect would take the key, and what the call says, to a place that nobody configured.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("stash/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { client, timeout })
    }

    async fn exchange(&self, request: Outgoing<'_>) -> Result<Incoming, Fault> {
        let mut builder = self.client.post(request.url.clone()).body(request.body);
        for (name, value) in request.headers {
            let mut value = http::HeaderValue::from_str(value)
                .map_err(|_| Fault::Connection("the key holds characters that no header may hold".to_owned()))?;
            value.set_sensitive(true);
            builder = builder.header(*name, value);
        }
        let mut response = builder.send().await.map_err(|error| connection(&error))?;
        let retry_after =
            response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| connection(&error))? {
            if body.len().saturating_add(part.len()) > RESPONSE_BYTES_MAX {
                return Err(Fault::TooLarge(RESPONSE_BYTES_MAX));
            }
            body.extend_from_slice(&part);
        }
        Ok(Incoming { status, retry_after, body })
    }
}

#[async_trait]
impl Post for HttpPost {
    async fn post(&self, request: Outgoing<'_>) -> Result<Incoming, Fault> {
        match tokio::time::timeout(self.timeout, self.exchange(request)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Fault::Timeout(self.timeout)),
        }
    }
}

/// What went wrong, by kind: the errors below name addresses, and some of them headers.
fn connection(error: &reqwest::Error) -> Fault {
    let what = if error.is_connect() {
        "no connection"
    } else if error.is_body() || error.is_decode() {
        "the connection broke during the answer"
    } else {
        "the connection broke"
    };
    Fault::Connection(what.to_owned())
}
