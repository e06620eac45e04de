//! OpenTelemetry over HTTP: spans and log records as they happen.
//!
//! 1. The body is read into memory, inflated and bounded ([`body`]).
//! 2. It is decoded, and the messages of model calls in it are checked: what the fold would not understand is refused here, with its
//!    reason, and nothing of the request is kept ([`decode`]).
//! 3. What an operator wants taken out of text is taken out. What is left is sealed, each trace under a key made for it in this request, as in an import ([`seal`]).
//! 4. One record is appended. The answer comes once it is durable; what traces it makes is the fold's business.
//!
//! An exporter that gets no answer sends again: spans that are there already change nothing, so no key is needed to tell a repeat.

pub mod body;
mod decode;
mod respond;
mod seal;

pub(crate) use respond::Signal;
pub use respond::{OtelPartialSuccess, OtelTaken, errors_in_kind};
pub use stash_domain::otel::protobuf::messages as proto;

use crate::CommandState;
use crate::dispatch::{Accepted, Refused};
use crate::routes::traces::import::import_problem;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use respond::{Encoding, Rejected};
use seal::Door;
use stash_domain::error::Code;
use stash_domain::ids::Digest;
use stash_domain::redaction::Counts;
use stash_infra::http::{At, Idempotency, Problem};
use stash_infra::identity::Caller;

/// Takes a request of either signal.
///
/// # Errors
/// As the routes say.
pub(crate) async fn receive(
    state: &CommandState,
    caller: &Caller,
    idempotency: &Idempotency,
    headers: &HeaderMap,
    request: Request,
    signal: Signal,
) -> Result<Response, Problem> {
    let encoding = Encoding::of(headers)?;
    let held = body::read(state, headers, request.into_body()).await?;
    let body_bytes = held.bytes.len();
    let redactor = state.importer.redactor.clone();
    // Nothing compares requests without a key, and a span that comes again is told by itself.
    let is_compared = idempotency.has_key();
    // The body goes with the work, and its room with it: a thread goes on when the caller has hung up.
    let work = move || {
        let digest = if is_compared { Digest::of(&held.bytes) } else { Digest::of(&[]) };
        let mut decoded = decode::decode(held.bytes.clone(), encoding, signal)?;
        redactor.otel(&mut decoded.spans, &mut decoded.logs, &mut Counts::new());
        Ok::<_, String>((digest, decoded, held))
    };
    let decoded = tokio::task::spawn_blocking(work).await.map_err(|_| Problem::internal(&"the server is stopping"))?;
    let (digest, decoded, _held) = decoded.map_err(|detail| Problem::new(Code::InvalidRequest, detail))?;
    let rejected = Rejected::of(&decoded);
    let command = state.begin(caller, idempotency, idempotency.digest_of_digest(digest)).await.map_err(not_taken)?;
    let position = if command.earlier.is_some() {
        state.applied(caller)
    } else {
        let door = Door { importer: &state.importer, one_commit: state.submitter.log().is_in_database() };
        let sealed = door.seal(caller.owner_id, command.id, decoded, body_bytes).await;
        match sealed.map_err(import_problem)? {
            None => state.applied(caller),
            Some(append) => {
                let Accepted { position } =
                    state.acknowledge(caller, idempotency, &command, vec![append]).await.map_err(not_taken)?;
                position
            }
        }
    };
    Ok((At(position), respond::taken(encoding, signal, rejected)).into_response())
}

/// Exporters know no 202: a record that was perhaps appended is sent again, which changes nothing if it was.
fn not_taken(refused: Refused) -> Problem {
    match refused {
        Refused::Problem(problem) => problem,
        Refused::Pending(..) => {
            let detail = "the event log does not answer at the moment; send this again, which never takes a span twice";
            Problem::new(Code::Unavailable, detail)
        }
    }
}
