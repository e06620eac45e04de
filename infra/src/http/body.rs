//! JSON bodies: bounded, checked, and refused with what is wrong and where.
//!
//! - Another media type or coding: 415. Over the limit: 413, before anything is read when the length is declared.
//! - Not JSON, or nested too deeply: 400 with line and column. JSON of the wrong shape: 422 with the path of the field.
//! - Unknown fields are ignored, so that a newer client can talk to an older server. In a PATCH, a field that is absent and one
//!   that is null are told apart by [`Patch`].

use crate::http::problem::Problem;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use stash_domain::error::Code;
use std::ops::Deref;

/// Bytes of a JSON body where the route sets no [`BodyLimit`]: every command but an import is far smaller.
pub const JSON_BYTES_DEFAULT: usize = 1024 * 1024;

/// The limit of a route's JSON body, as an extension: `.layer(Extension(BodyLimit(bytes)))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimit(pub usize);

/// A JSON body, read and parsed, with its bytes for the request's digest.
#[derive(Clone, Debug)]
pub struct JsonBody<T> {
    /// What it says.
    pub value: T,
    /// As it came.
    pub bytes: Bytes,
}

impl<T> Deref for JsonBody<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let limit = request.extensions().get::<BodyLimit>().map_or(JSON_BYTES_DEFAULT, |limit| limit.0);
        require_json(request.headers())?;
        refuse_coding(request.headers())?;
        refuse_declared_length(request.headers(), limit)?;
        let bytes = read(request.into_body(), limit).await?;
        Ok(Self { value: parse(&bytes)?, bytes })
    }
}

/// Reads a body of at most `limit` bytes.
///
/// # Errors
/// `too_large`; `invalid_request` when the caller breaks off.
pub async fn read(body: Body, limit: usize) -> Result<Bytes, Problem> {
    let mut chunks = body.into_data_stream();
    let mut whole: Vec<u8> = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Problem::new(Code::InvalidRequest, "the request's body broke off"))?;
        if whole.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.into())
}

/// Parses a JSON object.
///
/// # Errors
/// `invalid_request` when it is no JSON; `invalid_field` when it is no object, or a field is missing or has the wrong type or value.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Problem::new(Code::InvalidRequest, "the body is empty; send a JSON object"));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        refuse(error.inner(), &path)
    })?;
    deserializer.end().map_err(|error| refuse(&error, "."))?;
    // serde takes an array for a struct, its items for the fields in their order.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Problem::new(Code::InvalidField, "the body: must be a JSON object"));
    }
    Ok(value)
}

fn refuse(error: &serde_json::Error, path: &str) -> Problem {
    if error.classify() != serde_json::error::Category::Data {
        return Problem::new(Code::InvalidRequest, format!("the body is not valid JSON: {error}"));
    }
    let place = if path == "." { "the body".to_owned() } else { format!("`{path}`") };
    Problem::new(Code::InvalidField, format!("{place}: {error}"))
}

fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json")) {
        return Ok(());
    }
    let detail = format!("the body must be JSON (Content-Type: application/json), and its Content-Type is {kind}");
    Err(Problem::new(Code::UnsupportedMediaType, detail))
}

fn refuse_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let coded = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if coded {
        let detail = "this route takes bodies without a Content-Encoding only";
        return Err(Problem::new(Code::UnsupportedMediaType, detail));
    }
    Ok(())
}

/// Refuses a body whose declared length is over the limit, before any of it is read.
///
/// # Errors
/// `too_large`.
pub fn refuse_declared_length(headers: &HeaderMap, limit: usize) -> Result<(), Problem> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > limit as u64) { Err(too_large(limit)) } else { Ok(()) }
}

fn too_large(limit: usize) -> Problem {
    Problem::new(Code::TooLarge, format!("the body is larger than the {limit} bytes that this route takes"))
}

/// A field of a PATCH body: `#[serde(default)] field: Patch<T>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// Not mentioned: stays as it is.
    #[default]
    Absent,
    /// Explicitly null: is removed.
    Null,
    /// Gets this value.
    Value(T),
}

impl<T> Patch<T> {
    /// `None`: leave it; `Some(None)`: remove it; `Some(Some(value))`: set it.
    pub fn into_change(self) -> Option<Option<T>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Only called when the field is there.
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}
