//! What happened. One file per aggregate; payloads in their newest version only (older ones are upcast by `schemas` on the way
//! in). Every field in the clear is technical (ids, counts, numbers); what a person wrote or an agent said stands only in
//! [`Sealed`](crate::sealed::Sealed) fields and bundles.

pub mod accounts;
pub mod annotations;
pub mod jobs;
pub mod learning;
pub mod reward_models;
pub mod scoring;
pub mod titles;
pub mod traces;

pub use accounts::{AccountCreated, ApiKeyCreated, ApiKeyRevoked, LlmSwitched, RewardModelsSwitched};
pub use annotations::{AnnotationChanged, AnnotationCreated, AnnotationDeleted, JudgmentsImported};
pub use jobs::{
    CurvePoint, JobCancelRequested, JobCancelled, JobClaimed, JobCompleted, JobFailed, JobLeaseExpired, JobParked,
    JobProgressed, JobRequested, TrainingProgress,
};
pub use learning::{FindingsRecorded, JudgeAnswered};
pub use reward_models::{
    RewardModelCreated, RewardModelDeleted, RewardModelRenamed, RewardModelTrained, TrainingOptions,
};
pub use scoring::{ScoresRecorded, ScoringRequested};
pub use titles::{TitleFailed, TitleRequested, TraceTitled};
pub use traces::{OtelReceived, TraceDeleted, TracesImported};

macro_rules! events {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// An event of any kind.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "each variant is documented at its payload")]
        pub enum Event {
            $($variant($variant)),+
        }

        impl Event {
            /// Names of all kinds, as in the folders of `schemas/`.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The kind's name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name),+
                }
            }
        }

        $(impl From<$variant> for Event {
            fn from(payload: $variant) -> Self {
                Self::$variant(payload)
            }
        })+
    };
}

impl Event {
    /// The frames that the event carries or points at.
    pub fn bundle(&self) -> Option<&crate::sealed::Bundle> {
        match self {
            Self::TracesImported(event) => Some(&event.bundle),
            Self::JudgmentsImported(event) => Some(&event.bundle),
            Self::OtelReceived(event) => Some(&event.bundle),
            Self::RewardModelTrained(event) => Some(&event.pairs),
            Self::ScoresRecorded(event) => Some(&event.bundle),
            Self::JudgeAnswered(event) => Some(&event.call),
            Self::FindingsRecorded(event) => Some(&event.findings),
            _ => None,
        }
    }
}

events! {
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
