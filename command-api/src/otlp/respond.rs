//! Answers in the encoding of the request, as OTLP/HTTP wants them.
//!
//! Errors: for protobuf a `google.rpc.Status`; for JSON the problem answer of all routes, with the members `code` and `message` of a
//! `Status` added.

use super::proto;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use prost::Message as _;
use serde::Serialize;
use serde_json::Value;
use stash_domain::error::Code;
use stash_domain::otel::json::Decoded;
use stash_infra::http::Problem;
use utoipa::ToSchema;

/// Media type of protobuf.
const PROTOBUF: &str = "application/x-protobuf";

/// Where the routes stand.
const BASE: &str = "/api/v1/rm/otel/";

/// Bytes of an error answer; ours are far shorter.
const PROBLEM_BYTES_MAX: usize = 64 * 1024;

/// How many reasons for rejections are given.
const REASONS_MAX: usize = 3;

/// How a request is written, and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    /// By the `Content-Type`, whose parameters do not count.
    ///
    /// # Errors
    /// `unsupported_media_type`.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
        match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            PROTOBUF | "application/protobuf" => Ok(Self::Protobuf),
            "application/json" => Ok(Self::Json),
            _ => {
                let detail = format!("the Content-Type is {kind}; send {PROTOBUF} or application/json");
                Err(Problem::new(Code::UnsupportedMediaType, detail))
            }
        }
    }
}

/// What a request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Logs,
}

/// The answer in JSON, `ExportTraceServiceResponse` or `ExportLogsServiceResponse`.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtelTaken {
    /// What was not taken; absent if all of it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_success: Option<OtelPartialSuccess>,
}

/// What of a request was not taken, and why.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtelPartialSuccess {
    /// Number of spans, as text; only of a request of spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_spans: Option<String>,
    /// Number of log records, as text; only of a request of log records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_log_records: Option<String>,
    /// The reasons, of the first ones.
    pub error_message: String,
}

/// What of a request was not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rejected {
    count: u64,
    message: String,
}

impl Rejected {
    pub(super) fn of(decoded: &Decoded) -> Self {
        let count = decoded.faults_count;
        let mut message: String = decoded.faults.iter().take(REASONS_MAX).cloned().collect::<Vec<_>>().join("; ");
        if count > REASONS_MAX as u64 {
            message.push_str("; and others");
        }
        Self { count, message }
    }
}

/// The answer to a request that was taken.
pub(super) fn taken(encoding: Encoding, signal: Signal, rejected: Rejected) -> Response {
    let any = rejected.count > 0;
    match encoding {
        Encoding::Protobuf => {
            let count = i64::try_from(rejected.count).unwrap_or(i64::MAX);
            let partial = proto::PartialSuccess { rejected: count, error_message: rejected.message };
            let body = proto::ExportResponse { partial_success: any.then_some(partial) };
            ([(header::CONTENT_TYPE, PROTOBUF)], body.encode_to_vec()).into_response()
        }
        // 64-bit integers are text in the JSON of protobuf.
        Encoding::Json => {
            let count_of = |counted| (signal == counted).then(|| rejected.count.to_string());
            let partial_success = any.then(|| OtelPartialSuccess {
                rejected_spans: count_of(Signal::Traces),
                rejected_log_records: count_of(Signal::Logs),
                error_message: rejected.message,
            });
            axum::Json(OtelTaken { partial_success }).into_response()
        }
    }
}

/// The layer that turns errors of the routes under `/otel/` into what their senders can read, wherever they were made.
pub async fn errors_in_kind(request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with(BASE) {
        return next.run(request).await;
    }
    let encoding = Encoding::of(request.headers()).ok();
    let response = next.run(request).await;
    let (true, Some(encoding)) = (response.status().as_u16() >= 400, encoding) else { return response };
    let (mut parts, body) = response.into_parts();
    let problem = to_bytes(body, PROBLEM_BYTES_MAX).await.ok();
    let problem = problem.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut problem = if let Some(Value::Object(problem)) = problem { problem } else { serde_json::Map::new() };
    let message = problem.get("detail").and_then(Value::as_str).unwrap_or("the request failed").to_owned();
    let code = rpc_code(parts.status);
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = match encoding {
        Encoding::Protobuf => {
            parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROTOBUF));
            proto::RpcStatus { code, message }.encode_to_vec()
        }
        Encoding::Json => {
            problem.insert("code".to_owned(), code.into());
            problem.insert("message".to_owned(), message.into());
            Value::Object(problem).to_string().into_bytes()
        }
    };
    Response::from_parts(parts, Body::from(body))
}

/// The code of gRPC for a status.
fn rpc_code(status: StatusCode) -> i32 {
    match status.as_u16() {
        401 => 16,
        403 => 7,
        404 => 5,
        409 => 10,
        429 => 8,
        400..500 => 3,
        503 => 14,
        _ => 13,
    }
}
