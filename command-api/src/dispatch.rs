//! From a decision to an answer: the record, its verdict, and what each outcome looks like over HTTP.
//!
//! | outcome | answer |
//! |---|---|
//! | accepted | the route's own 2xx, with `X-Stash-Position` |
//! | a stream had moved on | 409 with its current version |
//! | the wait budget is spent, or the log did not answer | 202 with `Location: …/commands/{id}`; nothing is lost |
//! | the same idempotency key with another request | 422 |

use crate::CommandState;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stash_domain::admit::{Judged, Verdict};
use stash_domain::commands::Rejection;
use stash_domain::error::Code;
use stash_domain::ids::{CommandId, Digest};
use stash_domain::position::{Offset, Position, PositionToken, partition_of};
use stash_domain::record::{Actor, Append, Record};
use stash_domain::time::Timestamp;
use stash_infra::http::{At, Idempotency, Problem, request_id};
use stash_infra::identity::Caller;
use stash_infra::submit::{Outcome, SubmitError};
use utoipa::ToSchema;
use uuid::Uuid;

/// A command of a request.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its id: the same for each repeat of the request with its idempotency key.
    pub id: CommandId,
    /// Digest of the request.
    pub digest: Digest,
    /// When this request was made.
    pub at: Timestamp,
    /// The verdict on an earlier request with the same key; this one then decides nothing and answers like the first.
    pub earlier: Option<Judged>,
}

/// A command that took effect.
#[derive(Clone, Copy, Debug)]
pub struct Accepted {
    /// Where the read models include it.
    pub position: Option<PositionToken>,
}

/// Anything but acceptance.
#[derive(Debug)]
pub enum Refused {
    /// An error.
    Problem(Problem),
    /// Not decided yet.
    Pending(CommandId, Option<PositionToken>),
}

/// Body of a 202 for a command whose verdict is still to come.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PendingBody {
    /// The command.
    pub command_id: Uuid,
    /// Always `pending`.
    #[schema(pattern = "^pending$")]
    pub state: &'static str,
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<sqlx::Error> for Refused {
    fn from(error: sqlx::Error) -> Self {
        Self::Problem(error.into())
    }
}

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Self {
        Self::Problem(Problem::new(rejection.code, rejection.detail))
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::Pending(command, position) => {
                let location: [(HeaderName, String); 1] =
                    [(header::LOCATION, format!("/api/v1/rm/commands/{command}"))];
                let body = PendingBody { command_id: command.0, state: "pending" };
                (StatusCode::ACCEPTED, location, At(position), axum::Json(body)).into_response()
            }
        }
    }
}

/// How a submission's failure is answered.
pub fn submit_problem(error: SubmitError) -> Problem {
    match error {
        SubmitError::Log(error) => error.into(),
        SubmitError::Database(error) => error.into(),
        SubmitError::Mismatch => mismatch(),
        SubmitError::Encode(_) => Problem::internal(&error),
    }
}

fn mismatch() -> Problem {
    let detail = "this Idempotency-Key was used before with another request; use a new key for a new request";
    Problem::new(Code::IdempotencyMismatch, detail)
}

impl CommandState {
    /// Begins a command: its id, and the earlier verdict if the request is a repeat.
    ///
    /// # Errors
    /// `idempotency_mismatch`, `unavailable`.
    pub async fn begin(&self, caller: &Caller, idempotency: &Idempotency, digest: Digest) -> Result<Command, Refused> {
        let id = idempotency.command_id(caller.owner_id);
        let earlier = match idempotency.has_key() {
            true => self.submitter.find_verdict(id).await.map_err(submit_problem)?,
            false => None,
        };
        if earlier.as_ref().is_some_and(|judged| judged.request_digest != digest) {
            return Err(mismatch().into());
        }
        Ok(Command { id, digest, at: self.clock.now(), earlier })
    }

    /// Runs a decision, unless the request is a repeat.
    ///
    /// A retry can be faster than the projector: its first attempt is in the log without a verdict when it begins, and applied
    /// when it reads what it decides on, so that it would be refused for its own effect (a deletion finds nothing to delete). So
    /// a refusal stands only if there is still no verdict on the command.
    ///
    /// # Errors
    /// Everything but acceptance.
    pub async fn decide(
        &self,
        caller: &Caller,
        command: &Command,
        decision: impl Future<Output = Result<Accepted, Refused>> + Send,
    ) -> Result<Accepted, Refused> {
        if let Some(judged) = &command.earlier {
            return self.repeat(caller, judged);
        }
        let refused = match decision.await {
            Err(Refused::Problem(problem)) if problem.code().status() < 500 => problem,
            outcome => return outcome,
        };
        match self.submitter.find_verdict(command.id).await.map_err(submit_problem)? {
            Some(judged) if judged.request_digest == command.digest => self.repeat(caller, &judged),
            _ => Err(refused.into()),
        }
    }

    /// Appends a command's events and waits for the verdict.
    ///
    /// # Errors
    /// Everything but acceptance.
    pub async fn submit(&self, caller: &Caller, command: &Command, appends: Vec<Append>) -> Result<Accepted, Refused> {
        let record = self.record(caller, command, appends);
        match self.submitter.submit(&record).await.map_err(submit_problem)? {
            Outcome::Judged { judged, position } => accepted(&judged, Some(position)),
            Outcome::Pending { position } => Err(Refused::Pending(command.id, position)),
        }
    }

    /// Appends events that nothing can refuse (all expect `Any`), and returns once they are durable: what they make is readable at
    /// the position given.
    ///
    /// # Errors
    /// Everything but acceptance.
    pub async fn acknowledge(
        &self,
        caller: &Caller,
        idempotency: &Idempotency,
        command: &Command,
        appends: Vec<Append>,
    ) -> Result<Accepted, Refused> {
        let record = self.record(caller, command, appends);
        let position = if idempotency.has_key() {
            // Another request with the same key may have come first. If the verdict is not known in time the record is durable all
            // the same, and unless that other request had another body, so is its effect.
            match self.submitter.submit(&record).await.map_err(submit_problem)? {
                Outcome::Judged { position, .. } => Some(position),
                Outcome::Pending { position } => position,
            }
        } else {
            let log = self.submitter.log().id();
            let position = self.submitter.append(&record).await.map_err(submit_problem)?;
            position.map(|position| PositionToken::new(log, position))
        };
        match position {
            Some(_) => Ok(Accepted { position }),
            None => Err(Refused::Pending(command.id, None)),
        }
    }

    /// The outcome of an earlier request with the same key, for its repeat.
    ///
    /// # Errors
    /// The conflict that the earlier one ended in.
    pub fn repeat(&self, caller: &Caller, earlier: &Judged) -> Result<Accepted, Refused> {
        accepted(earlier, self.applied(caller))
    }

    /// The verdict on a command; none while it is still to come.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn verdict(&self, command: &Command) -> Result<Option<Judged>, Refused> {
        Ok(self.submitter.find_verdict(command.id).await.map_err(submit_problem)?)
    }

    /// A position that the read models have reached: for answers whose effect was there before the request.
    pub fn applied(&self, caller: &Caller) -> Option<PositionToken> {
        let log = self.submitter.log();
        let partition = partition_of(caller.owner_id, log.partitions());
        let offset = Offset(self.submitter.watermarks().of(partition).0.checked_sub(1)?);
        Some(PositionToken::new(log.id(), Position { partition, offset }))
    }

    /// The record of a command.
    pub fn record(&self, caller: &Caller, command: &Command, appends: Vec<Append>) -> Record {
        Record {
            command_id: command.id,
            owner_id: caller.owner_id,
            request_digest: command.digest,
            actor: Actor::ApiKey(caller.api_key_id),
            causation_id: None,
            correlation_id: Uuid::parse_str(&request_id::current()).unwrap_or(command.id.0),
            recorded_at: command.at,
            appends,
        }
    }
}

/// What a verdict means for the request, of the record itself or of the earlier one.
fn accepted(judged: &Judged, position: Option<PositionToken>) -> Result<Accepted, Refused> {
    match judged.verdict {
        Verdict::Accepted => Ok(Accepted { position }),
        Verdict::Conflict { expected, actual, .. } => {
            let detail = format!(
                "it was changed in the meantime: version {expected} was expected, and it is at version {actual}; read it again and decide anew"
            );
            let problem = Problem::new(Code::VersionConflict, detail);
            Err(problem.with("expected_version", expected).with("current_version", actual).into())
        }
    }
}
