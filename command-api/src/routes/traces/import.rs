//! `POST /traces/import`: a JSON body as in the trace-format documentation, or the file itself as a raw body.

use crate::CommandState;
use crate::dispatch::{Accepted, Command, Refused, submit_problem};
use crate::import::spool::{Source, SpoolError};
use crate::import::{ImportError, Input, Prepared, Summary, Turn};
use crate::raw_body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use stash_domain::error::Code;
use stash_domain::formats::{
    AUTO, Issue, Listed, OnError, Polarity, ReadError, ReadOptions, SCORE_NAMES_MAX, ScoreMap,
};
use stash_domain::ids::Digest;
use stash_domain::limits::IMPORT_SOURCE_CHARS_MAX;
use stash_infra::artifacts::ArtifactError;
use stash_infra::bundle::BundleError;
use stash_infra::http::{At, Idempotency, Problem, body};
use stash_infra::identity::Caller;
use stash_infra::llm::LlmError;
use std::collections::BTreeMap;
use std::io::Read as _;
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
    /// What you call the place that the traces come from, such as a file's path. Traces in it that have no id are then known by
    /// their number in it, so that importing it again updates them; without it, they are new traces each time.
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 1000)]
    pub source: Option<String>,
    /// Names of scores that are ratings, each with the end that is good: `up` (more is better) or `down`. Scores of other names
    /// become comments, unless the name is one of the usual ones for feedback of users.
    #[serde(default)]
    #[schema(value_type = HashMap<String, String>)]
    pub score_map: BTreeMap<String, String>,
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
    /// What the caller calls the place that the traces come from.
    pub source: Option<String>,
    /// `name:up` or `name:down`, several with commas in between.
    #[serde(default)]
    pub score_map: String,
}

impl ImportQuery {
    fn check(self) -> Result<Self, Problem> {
        let chars = self.source.as_ref().map(|source| source.chars().count());
        if chars.is_some_and(|chars| !(1..=IMPORT_SOURCE_CHARS_MAX).contains(&chars)) {
            let detail = format!("source: must be 1 to {IMPORT_SOURCE_CHARS_MAX} characters");
            return Err(Problem::new(Code::InvalidField, detail));
        }
        Ok(self)
    }

    /// Its score map, name by name.
    fn scores(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.score_map.split(',').filter(|entry| !entry.is_empty());
        entries.map(|entry| entry.rsplit_once(':').unwrap_or((entry, "")))
    }

    fn input(self, bytes: Source, score_map: ScoreMap) -> Input {
        let options = ReadOptions { on_error: self.on_error, score_map, ..ReadOptions::default() };
        Input { bytes, format: self.format, options, source: self.source, turn: None }
    }
}

fn auto() -> String {
    AUTO.to_owned()
}

/// The score map that a request names.
fn score_map<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Result<ScoreMap, Problem> {
    let wrong = |detail: String| Problem::new(Code::InvalidField, detail);
    entries.into_iter().try_fold(ScoreMap::default(), |map, (name, end)| {
        let polarity = match end {
            "up" => Polarity::Up,
            "down" => Polarity::Down,
            _ => return Err(wrong(format!("score_map: {name:?} needs `up` or `down`, as in `{name}:up`"))),
        };
        let many = || wrong(format!("score_map: names at most {SCORE_NAMES_MAX} scores"));
        map.with(name, polarity).ok_or_else(many)
    })
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
    /// How many of them there were already, imports acknowledged before this one included. Only while the read models lag
    /// behind by more than a command waits may it be too low.
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
        ("on_error" = Option<String>, Query, description = "for a raw body: `fail` or `skip`"),
        ("score_map" = Option<String>, Query, description = "for a raw body: `name:up` or `name:down`, several with commas in between; which scores are ratings, as in the JSON body"),
        ("source" = Option<String>, Query, description = "for a raw body: what you call the place that the traces come from, as in the JSON body")),
    responses((status = 200, description = "imported", body = Imported), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Refused> {
    let upload = receive(&state, &headers, request).await?;
    // Only now, so that callers who send slowly keep nobody waiting.
    let turn = state.imports.clone().acquire_owned().await.map_err(|_| Problem::internal(&"imports are closed"))?;
    let turn = Turn::new(turn);
    let command = state.begin(&caller, &idempotency, idempotency.digest_of_digest(upload.digest)).await?;
    let Opened { mut input, warning } = upload.open().await?;
    input.turn = Some(turn.clone());
    let (owner, importer) = (caller.owner_id, &state.importer);
    if let Some(judged) = &command.earlier {
        let done = state.repeat(&caller, judged)?;
        let recalled = importer.recall(owner, command.id, input).await;
        let mut summary = recalled.map_err(import_problem)?;
        warning.into_iter().for_each(|issue| summary.report.warnings.push(issue));
        count_updated(&state, &caller, &command, &mut summary).await?;
        return Ok(answer(summary, done));
    }
    let prepared = importer.prepare(owner, command.id, input).await;
    let mut prepared = prepared.map_err(import_problem)?;
    warning.into_iter().for_each(|issue| prepared.summary.report.warnings.push(issue));
    // What is left is short and needs little memory, so the next import may begin.
    drop(turn);
    count_updated(&state, &caller, &command, &mut prepared.summary).await?;
    finish(&state, &caller, &idempotency, &command, prepared).await
}

/// Counts which of the traces there were already, once the read models include what is in the log now: an import that was
/// acknowledged a moment ago is durable, but may not be projected yet.
async fn count_updated(
    state: &CommandState,
    caller: &Caller,
    command: &Command,
    summary: &mut Summary,
) -> Result<(), Refused> {
    if !summary.may_update() {
        return Ok(());
    }
    // Whether in time or not: an import is not refused because projections lag behind.
    state.submitter.catch_up(caller.owner_id).await.map_err(submit_problem)?;
    state
        .importer
        .count_updated(caller.owner_id, command.id, summary)
        .await
        .map_err(|error| import_problem(error).into())
}

/// A body that has come in whole.
struct Upload {
    source: Source,
    digest: Digest,
    /// How to read it; none for the JSON envelope, which says so itself.
    query: Option<ImportQuery>,
}

/// Takes the body in: after it, the request waits for nothing that the caller does.
async fn receive(state: &CommandState, headers: &HeaderMap, request: Request) -> Result<Upload, Refused> {
    let (query, limit) = if is_enveloped(headers, &request) {
        (None, state.import_json_bytes_max)
    } else {
        let query = Query::<ImportQuery>::try_from_uri(request.uri())
            .map_err(|error| Problem::new(Code::InvalidField, format!("query: {error}")))?;
        (Some(query.0.check()?), state.import_bytes_max)
    };
    if !headers.contains_key(header::CONTENT_ENCODING) {
        body::refuse_declared_length(headers, usize::try_from(limit).unwrap_or(usize::MAX))?;
    }
    let raw = raw_body::open(headers, request.into_body())?;
    let (source, digest) = raw_body::spool(raw, &state.spool_folder, limit).await.map_err(spool_problem)?;
    Ok(Upload { source, digest, query })
}

/// An input that is ready to be read.
struct Opened {
    input: Input,
    /// What was changed before its reader sees it.
    warning: Option<Issue>,
}

impl Upload {
    /// How to read it, and what to read.
    async fn open(self) -> Result<Opened, Problem> {
        match self.query {
            Some(query) => {
                let scores = score_map(query.scores())?;
                Ok(Opened { input: query.input(self.source, scores), warning: None })
            }
            None => tokio::task::spawn_blocking(|| envelope(self.source))
                .await
                .map_err(|_| Problem::internal(&"the server is stopping"))?,
        }
    }
}

/// Reads the JSON envelope. A lone surrogate in it, which is no Unicode, fails no import.
fn envelope(mut source: Source) -> Result<Opened, Problem> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(|error| Problem::internal(&error))?;
    let warning = stash_domain::formats::replace_lone_surrogates(&mut bytes).then(|| Issue {
        line: 1,
        offset: 0,
        field: Some("data".to_owned()),
        message: "lone surrogates, which are no Unicode, were replaced by U+FFFD".to_owned(),
    });
    let ImportBody { format, data, on_error, source, score_map: named } = body::parse(&bytes)?;
    let scores = score_map(named.iter().map(|(name, end)| (name.as_str(), end.as_str())))?;
    let query = ImportQuery { format, on_error, source, score_map: String::new() }.check()?;
    Ok(Opened { input: query.input(Source::of(Bytes::from(data)), scores), warning })
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
    idempotency: &Idempotency,
    command: &Command,
    prepared: Prepared,
) -> Result<Response, Refused> {
    if prepared.summary.trace_ids.is_empty() {
        return Ok(answer(prepared.summary, Accepted { position: state.applied(caller) }));
    }
    let done = state.acknowledge(caller, idempotency, command, prepared.appends).await?;
    Ok(answer(prepared.summary, done))
}

fn answer(summary: Summary, done: Accepted) -> Response {
    let report = summary.report;
    let body = Imported {
        format: report.format.to_owned(),
        imported: summary.trace_ids.len() as u64,
        trace_ids: summary.trace_ids.into_iter().map(|id| id.0).collect(),
        updated: summary.updated,
        skipped_count: report.skipped.count,
        skipped: placed(report.skipped),
        warning_count: report.warnings.count,
        warnings: placed(report.warnings),
    };
    (At(done.position), axum::Json(body)).into_response()
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
pub(crate) fn import_problem(error: ImportError) -> Problem {
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
        error @ ImportError::TooManyTraces(_) => Problem::new(Code::TooLarge, error.to_string()),
        error @ ImportError::TooManyTitles => Problem::new(Code::BadImport, error.to_string()),
        ImportError::NoTitles(_) => Problem::new(
            Code::NotConfigured,
            format!("{error}; the operator sets RM_TITLE_MODEL and its provider's key, or another RM_TITLE_POLICY"),
        ),
        ImportError::Title(LlmError::SwitchedOff(_)) => Problem::new(Code::LlmSwitchedOff, error.to_string()),
        ImportError::Title(LlmError::Malformed { .. } | LlmError::Declined { .. } | LlmError::Refused { .. }) => {
            Problem::new(Code::LlmFailed, format!("{error}; nothing was imported"))
        }
        ImportError::Title(_) => Problem::new(Code::Unavailable, format!("{error}; nothing was imported, try again")),
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
