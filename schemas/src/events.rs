//! Which payload has which schema: one line per event kind.

use crate::error::CodecError;
use crate::registry::{Object, Registry};
use stash_domain::events::*;

macro_rules! payloads {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// Appends an event to `out` as a single object.
        pub(crate) fn write_event(registry: &Registry<'_>, event: &Event, out: &mut Vec<u8>) -> Result<(), CodecError> {
            match event {
                $(Event::$variant(payload) => registry.write($name, payload, out)),+
            }
        }

        /// Reads the event that an object holds.
        pub(crate) fn read_event(object: &Object<'_, '_, '_>) -> Result<Event, CodecError> {
            match object.family() {
                $($name => object.read().map(Event::$variant),)+
                found => Err(CodecError::WrongType { expected: "an event", found }),
            }
        }
    };
}

payloads! {
    TracesImported = "traces_imported",
    OtelReceived = "otel_received",
    TraceDeleted = "trace_deleted",
    TraceTitled = "trace_titled",
    TitleFailed = "title_failed",
    TitleRequested = "title_requested",
    AnnotationCreated = "annotation_created",
    AnnotationChanged = "annotation_changed",
    AnnotationDeleted = "annotation_deleted",
    JudgmentsImported = "judgments_imported",
    RewardModelCreated = "reward_model_created",
    RewardModelTrained = "reward_model_trained",
    RewardModelRenamed = "reward_model_renamed",
    RewardModelDeleted = "reward_model_deleted",
    JudgeAnswered = "judge_answered",
    FindingsRecorded = "findings_recorded",
    ScoringRequested = "scoring_requested",
    ScoresRecorded = "scores_recorded",
    JobRequested = "job_requested",
    JobClaimed = "job_claimed",
    JobProgressed = "job_progressed",
    JobCompleted = "job_completed",
    JobFailed = "job_failed",
    JobCancelRequested = "job_cancel_requested",
    JobCancelled = "job_cancelled",
    JobLeaseExpired = "job_lease_expired",
    JobParked = "job_parked",
    AccountCreated = "account_created",
    RewardModelsSwitched = "reward_models_switched",
    LlmSwitched = "llm_switched",
    ApiKeyCreated = "api_key_created",
    ApiKeyRevoked = "api_key_revoked",
}
