//! `POST /traces/import`: a JSON body as in the trace-format documentation, or the file itself as a raw body.

use crate::CommandState;
use crate::dispatch::{Command, Refused, submit_problem};
use crate::import::spool::{Source, SpoolError};
use crate::import::{ImportError, Prepared};
use crate::raw_body;
use axum::extract::{FromRequest as _, Query, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use stash_domain::error::Code;
use stash_domain::formats::{AUTO, Issue, Listed, OnError, ReadError, ReadOptions};
use stash_domain::ids::Digest;
use stash_domain::position::PositionToken;
use stash_infra::artifacts::ArtifactError;
use stash_infra::bundle::BundleError;
use stash_infra::http::{At, Idempotency, JsonBody, Problem};
use stash_infra::identity::Caller;
use utoipa::ToSchema;
use uuid::Uuid;

/// JSON body of an import.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct ImportBody {
    /// Name of the format, or `auto`.
    #[serde(default = "auto")]
    #[schema(default = "auto")]
    pub format: String,
    /// The file's content.
    pub data: String,
    /// What to do about a record in error: `fail` (nothing is imported) or `skip`.
    #[serde(default)]
    #[schema(value_type = String, default = "fail", pattern = "^(fail|skip)$")]
    pub on_error: OnError,
}

/// Query of an import with a raw body.
#[derive(Clone, Debug, Deserialize)]
pub struct ImportQuery {
    /// Name of the format, or `auto`.
    #[serde(default = "auto")]
    pub format: String,
    /// What to do about a record in error.
    #[serde(default)]
    pub on_error: OnError,
}

fn auto() -> String {
    AUTO.to_owned()
}

/// What was imported.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Imported {
    /// The format; the one recognised, after `auto`.
    pub format: String,
    /// Traces taken in, the updated ones among them.
    pub imported: u64,
    /// Their ids, in the order of the input.
    pub trace_ids: Vec<Uuid>,
    /// How many of them there were already.
    pub updated: u64,
    /// Records not taken, the first 1,000 of them.
    pub skipped: Vec<PlacedIssue>,
    /// How many records were not taken.
    pub skipped_count: u64,
    /// What was changed or left out, the first 1,000 of them.
    pub warnings: Vec<PlacedIssue>,
    /// How many warnings there are.
    pub warning_count: u64,
}

/// Something wrong or noteworthy at a place of the input.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PlacedIssue {
    /// Line, from 1.
    pub line: u64,
    /// Byte offset in the input, from 0.
    pub offset: u64,
    /// Path of the field; null when it concerns the record as a whole.
    #[schema(required = true)]
    pub field: Option<String>,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl From<Issue> for PlacedIssue {
    fn from(issue: Issue) -> Self {
        Self { line: issue.line, offset: issue.offset, field: issue.field, message: issue.message }
    }
}

/// Imports traces.
///
/// A trace whose external id was imported before is replaced. With `on_error=fail` (the default) an error anywhere imports
/// nothing; with `skip`, the good records are imported and the bad ones listed. Send large files as a raw body
/// (`Content-Type: application/jsonl` or `application/json` with `?format=`), optionally compressed with gzip or zstd: it is
/// streamed, and its size is bounded only by a setting.
#[utoipa::path(post, operation_id = "import_traces", path = "/traces/import", tag = "traces", request_body = ImportBody,
    params(("format" = Option<String>, Query, description = "for a raw body: name of the format, or `auto`"),
        ("on_error" = Option<String>, Query, description = "for a raw body: `fail` or `skip`")),
    responses((status = 200, description = "imported", body = Imported), crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Refused> {
    let _turn = state.imports.acquire().await.map_err(|_| Problem::internal(&"imports are closed"))?;
    let (input, source, digest) = input(&state, &headers, request).await?;
    let command = state.begin(&caller, &idempotency, idempotency.digest_of_digest(digest)).await?;
    let options = ReadOptions { on_error: input.on_error, ..ReadOptions::default() };
    let prepared = state
        .importer
        .prepare(caller.owner_id, command.id, input.format, options, source)
        .await
        .map_err(import_problem)?;
    finish(&state, &caller, &command, prepared).await
}

/// The input, wherever it stands, and a digest of it.
async fn input(
    state: &CommandState,
    headers: &HeaderMap,
    request: Request,
) -> Result<(ImportQuery, Source, Digest), Refused> {
    if is_enveloped(headers, &request) {
        let body = JsonBody::<ImportBody>::from_request(request, &()).await?;
        let digest = Digest::of(&body.bytes);
        let ImportBody { format, data, on_error } = body.value;
        return Ok((ImportQuery { format, on_error }, Source::of(Bytes::from(data)), digest));
    }
    let query = Query::<ImportQuery>::try_from_uri(request.uri())
        .map_err(|error| Problem::new(Code::InvalidField, format!("query: {error}")))?;
    let body = raw_body::open(headers, request.into_body())?;
    let (source, digest) =
        raw_body::spool(body, &state.spool_folder, state.import_bytes_max).await.map_err(spool_problem)?;
    Ok((query.0, source, digest))
}

/// Whether the body is the JSON envelope rather than the file itself: JSON, and no format in the query.
fn is_enveloped(headers: &HeaderMap, request: &Request) -> bool {
    let json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json"));
    let named = request.uri().query().is_some_and(|query| query.split('&').any(|part| part.starts_with("format=")));
    json && !named
}

/// Appends and acknowledges once the record is durable: the traces are readable at the position that the answer names.
async fn finish(
    state: &CommandState,
    caller: &Caller,
    command: &Command,
    prepared: Prepared,
) -> Result<Response, Refused> {
    let report = prepared.report;
    let answer = Imported {
        format: report.format.to_owned(),
        imported: prepared.trace_ids.len() as u64,
        trace_ids: prepared.trace_ids.into_iter().map(|id| id.0).collect(),
        updated: prepared.updated,
        skipped_count: report.skipped.count,
        skipped: placed(report.skipped),
        warning_count: report.warnings.count,
        warnings: placed(report.warnings),
    };
    if answer.trace_ids.is_empty() {
        return Ok(axum::Json(answer).into_response());
    }
    let record = state.record(caller, command, prepared.appends);
    let log = state.submitter.log().id();
    match state.submitter.append(&record).await.map_err(submit_problem)? {
        Some(position) => Ok((At(Some(PositionToken::new(log, position))), axum::Json(answer)).into_response()),
        None => Err(Refused::Pending(command.id, None)),
    }
}

fn placed(listed: Listed) -> Vec<PlacedIssue> {
    listed.first.into_iter().map(Into::into).collect()
}

fn spool_problem(error: SpoolError) -> Problem {
    match error {
        SpoolError::TooLarge(_) => Problem::new(Code::TooLarge, format!("{error}; send it in parts")),
        SpoolError::Full => Problem::new(Code::StorageFull, "the server's disk is full; nothing was imported"),
        SpoolError::Broken(_) => Problem::new(Code::InvalidRequest, error.to_string()),
        SpoolError::Io(_) => Problem::internal(&error),
    }
}

/// How an import's failure is answered.
fn import_problem(error: ImportError) -> Problem {
    match error {
        ImportError::Read(ReadError::Input(issue)) => Problem::new(Code::BadImport, issue.to_string())
            .with("line", issue.line)
            .with("offset", issue.offset)
            .with("field", issue.field),
        ImportError::Read(error @ (ReadError::UnknownFormat { .. } | ReadError::NotRecognised { .. })) => {
            Problem::new(Code::UnknownFormat, error.to_string())
        }
        ImportError::Bundle(BundleError::Store(ArtifactError::Full(_))) => {
            Problem::new(Code::StorageFull, "the server's disk is full; nothing was imported")
        }
        ImportError::Bundle(BundleError::Store(ArtifactError::Unavailable(_))) => {
            Problem::new(Code::Unavailable, "the artifact store does not answer at the moment; try again")
        }
        ImportError::Bundle(BundleError::TooManyBlobs) => {
            Problem::new(Code::TooLarge, format!("{error}; send it in parts"))
        }
        ImportError::Database(error) => error.into(),
        ImportError::Keys(error) => keys_problem(error),
        error => Problem::internal(&error),
    }
}

/// How a failure of the subject keys is answered.
pub fn keys_problem(error: stash_infra::subject_keys::KeyError) -> Problem {
    match error {
        stash_infra::subject_keys::KeyError::Database(error) => error.into(),
        error => Problem::internal(&error),
    }
}
