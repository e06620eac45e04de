//! Deletes a reward model. What it made goes from the read models with it; its checkpoint is removed by a job.

use crate::commands::Rejection;
use crate::commands::jobs::cancel;
use crate::error::Code;
use crate::events::{JobRequested, RewardModelDeleted};
use crate::ids::{CommandId, JobId, RewardModelId, made_by};
use crate::record::{Append, Expected, StreamId};
use crate::views::job::JobState;

/// The job that removes the checkpoint.
pub fn job_id(command: CommandId) -> JobId {
    made_by(command, "job", 0).into()
}

/// The events. A training that no worker has begun is cancelled in the same record, which names the version of its job, so that
/// a worker which claims it at the same moment either comes first, and then the model stays, or not at all.
///
/// `compute` is the class of the workers that reach the artifact store.
///
/// # Errors
/// [`Code::VersionConflict`] while it is being trained.
pub fn decide(
    command: CommandId,
    reward_model_id: RewardModelId,
    training: &cancel::View,
    compute: &str,
) -> Result<Vec<Append>, Rejection> {
    let mut appends = match training.state {
        JobState::Running => {
            return Err(Rejection::new(
                Code::VersionConflict,
                "the model is being trained: cancel the training, and delete the model when it has stopped",
            ));
        }
        JobState::Queued => cancel::decide(training)?,
        _ => Vec::new(),
    };
    appends.push(Append {
        stream: StreamId::RewardModel(reward_model_id),
        expected: Expected::Any,
        events: vec![RewardModelDeleted { reward_model_id }.into()],
    });
    // An attempt that failed late may have left a checkpoint too; one that never began has none.
    if training.attempt > 0 {
        let job_id = job_id(command);
        let job = JobRequested {
            job_id,
            kind: "purge".to_owned(),
            compute: compute.to_owned(),
            reward_model_id: Some(reward_model_id),
            run_id: None,
        };
        appends.push(Append { stream: StreamId::Job(job_id), expected: Expected::Any, events: vec![job.into()] });
    }
    Ok(appends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn decided(state: JobState, attempt: i32) -> Result<Vec<Append>, Rejection> {
        let training = cancel::View { job_id: JobId(Uuid::from_u128(1)), state, attempt, version: 4 };
        decide(CommandId(Uuid::from_u128(2)), RewardModelId(Uuid::from_u128(3)), &training, "local")
    }

    fn names(appends: &[Append]) -> Vec<&'static str> {
        appends.iter().flat_map(|append| append.events.iter().map(|event| event.name())).collect()
    }

    #[test]
    fn a_queued_training_is_cancelled_at_the_version_seen() {
        let appends = decided(JobState::Queued, 0).unwrap();
        assert_eq!(names(&appends), ["job_cancel_requested", "job_cancelled", "reward_model_deleted"]);
        assert_eq!(appends[0].expected, Expected::Version(4));
        let tried = decided(JobState::Queued, 1).unwrap();
        assert_eq!(names(&tried).last(), Some(&"job_requested"), "an attempt may have left a checkpoint");
    }

    #[test]
    fn a_training_that_is_over_leaves_its_checkpoint_to_a_job() {
        for state in [JobState::Succeeded, JobState::Failed, JobState::Cancelled, JobState::Parked] {
            assert_eq!(names(&decided(state, 1).unwrap()), ["reward_model_deleted", "job_requested"], "{state:?}");
        }
        assert_eq!(names(&decided(JobState::Cancelled, 0).unwrap()), ["reward_model_deleted"]);
    }

    #[test]
    fn a_model_in_training_stays() {
        assert_eq!(decided(JobState::Running, 1).unwrap_err().code, Code::VersionConflict);
    }
}
