//! Asks a trained model to score a trace's actions.
//!
//! All requests for one trace and one model are events of one stream, and each names the version it saw. So of two that were
//! made at the same moment one is void, and joins the run of the other.

use crate::commands::Rejection;
use crate::error::Code;
use crate::events::{JobRequested, ScoringRequested};
use crate::ids::{CommandId, JobId, RewardModelId, ScoringRunId, TraceId, derive, made_by};
use crate::record::{Append, Expected, StreamId};

/// What the command depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Actions of the trace.
    pub action_count: i64,
    /// The model's name.
    pub model_name: String,
    /// The model's status.
    pub model_status: String,
    /// Whether the model learnt from actions, and so can score them.
    pub scores_actions: bool,
    /// Runs of this trace and model requested so far: the version of their stream.
    pub requested: u64,
}

/// The stream of all requests for this trace and model.
pub fn stream(trace: TraceId, model: RewardModelId) -> StreamId {
    StreamId::ScoringRun(derive("scoring-requests", &[trace.0.as_bytes(), model.0.as_bytes()]).into())
}

/// The run and job that a command makes.
pub fn ids(command: CommandId) -> (ScoringRunId, JobId) {
    (made_by(command, "scoring-run", 0).into(), made_by(command, "job", 0).into())
}

/// The events.
///
/// # Errors
/// [`Code::NoActions`], [`Code::IncompatibleModel`].
pub fn decide(
    command: CommandId,
    trace_id: TraceId,
    reward_model_id: RewardModelId,
    compute: &str,
    view: &View,
) -> Result<Vec<Append>, Rejection> {
    if view.model_status != "succeeded" {
        return Err(Rejection::new(
            Code::IncompatibleModel,
            format!("the model {:?} is {}, and only a trained model can score", view.model_name, view.model_status),
        ));
    }
    if !view.scores_actions {
        return Err(Rejection::new(
            Code::IncompatibleModel,
            format!(
                "the model {:?} was trained on pairs of whole traces alone and cannot score actions; rate some steps and train a new one",
                view.model_name
            ),
        ));
    }
    if view.action_count == 0 {
        return Err(Rejection::new(Code::NoActions, "the trace has no assistant response and no tool call to score"));
    }
    let (run_id, job_id) = ids(command);
    let requested = ScoringRequested { run_id, job_id, trace_id, reward_model_id };
    let job = JobRequested {
        job_id,
        kind: "score".to_owned(),
        compute: compute.to_owned(),
        reward_model_id: Some(reward_model_id),
        run_id: Some(run_id),
    };
    Ok(vec![
        Append {
            stream: stream(trace_id, reward_model_id),
            expected: Expected::Version(view.requested),
            events: vec![requested.into()],
        },
        Append { stream: StreamId::Job(job_id), expected: Expected::Any, events: vec![job.into()] },
    ])
}
