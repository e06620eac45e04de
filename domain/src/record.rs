//! One command is one record of the log: every event it causes, and the versions it expects its streams to have.

use crate::events::Event;
use crate::ids::{
    AnnotationId, ApiKeyId, CommandId, Digest, ImportId, JobId, OwnerId, RewardModelId, ScoringRunId, TraceId,
};
use crate::time::Timestamp;
use uuid::Uuid;

/// A stream: the history of one thing. Its version is the number of accepted events in it; a new stream has version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamId {
    /// An import request, or a request of spans sent live.
    Import(ImportId),
    /// A trace, after its import.
    Trace(TraceId),
    /// An annotation.
    Annotation(AnnotationId),
    /// A reward model.
    RewardModel(RewardModelId),
    /// The requests for scores of one trace by one model, or what one run of them gave.
    ScoringRun(ScoringRunId),
    /// A job.
    Job(JobId),
    /// An account and its switches.
    Account(OwnerId),
    /// An API key.
    ApiKey(ApiKeyId),
}

impl StreamId {
    /// The kind's name and the id, as they stand in the stream's text form.
    pub fn parts(self) -> (&'static str, Uuid) {
        match self {
            Self::Import(id) => ("import", id.0),
            Self::Trace(id) => ("trace", id.0),
            Self::Annotation(id) => ("annotation", id.0),
            Self::RewardModel(id) => ("reward_model", id.0),
            Self::ScoringRun(id) => ("scoring_run", id.0),
            Self::Job(id) => ("job", id.0),
            Self::Account(id) => ("account", id.0),
            Self::ApiKey(id) => ("api_key", id.0),
        }
    }

    /// The stream of this kind and id, the inverse of [`StreamId::parts`]; none for an unknown kind.
    pub fn from_parts(kind: &str, id: Uuid) -> Option<Self> {
        match kind {
            "import" => Some(Self::Import(id.into())),
            "trace" => Some(Self::Trace(id.into())),
            "annotation" => Some(Self::Annotation(id.into())),
            "reward_model" => Some(Self::RewardModel(id.into())),
            "scoring_run" => Some(Self::ScoringRun(id.into())),
            "job" => Some(Self::Job(id.into())),
            "account" => Some(Self::Account(id.into())),
            "api_key" => Some(Self::ApiKey(id.into())),
            _ => None,
        }
    }
}

impl std::fmt::Display for StreamId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, id) = self.parts();
        write!(f, "{kind}/{id}")
    }
}

/// A stream id that is not `<kind>/<uuid>` with a known kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a stream id: expected a known kind, a slash and a UUID")]
pub struct BadStreamId;

impl std::str::FromStr for StreamId {
    type Err = BadStreamId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, id) = text.split_once('/').ok_or(BadStreamId)?;
        let id = Uuid::parse_str(id).map_err(|_| BadStreamId)?;
        Self::from_parts(kind, id).ok_or(BadStreamId)
    }
}

/// What a command expects of a stream it appends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Any version: the last write stands.
    Any,
    /// Exactly this version, else the whole record is void.
    Version(u64),
}

/// Who caused a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A person or program, through an API key.
    ApiKey(ApiKeyId),
    /// Stash itself: a worker, the reaper, the command line on the machine.
    System,
}

/// Events for one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    /// The stream.
    pub stream: StreamId,
    /// The version it must have before these events.
    pub expected: Expected,
    /// The events, in order; at least one.
    pub events: Vec<Event>,
}

/// One command: accepted whole or void whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its id; a second record with the same id changes nothing.
    pub command_id: CommandId,
    /// Whose it is.
    pub owner_id: OwnerId,
    /// SHA-256 of the request, so that the same idempotency key with another body is found out.
    pub request_digest: Digest,
    /// Who caused it.
    pub actor: Actor,
    /// The command that caused this one, for a worker's follow-ups.
    pub causation_id: Option<CommandId>,
    /// The request or job this belongs to, for tracing.
    pub correlation_id: Uuid,
    /// When the command was made.
    pub recorded_at: Timestamp,
    /// What it appends, at most [`crate::limits::APPENDS_PER_RECORD_MAX`] streams.
    pub appends: Vec<Append>,
}

impl Record {
    /// All events with their streams, in order.
    pub fn events(&self) -> impl Iterator<Item = (StreamId, &Event)> {
        self.appends.iter().flat_map(|append| append.events.iter().map(move |event| (append.stream, event)))
    }
}
