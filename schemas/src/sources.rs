//! The schema files, built into the crate. A new file is listed here; a test compares the list with the folders.

/// One schema file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its folder: the name of an event kind, `record` or `annotation_text`.
    pub family: &'static str,
    /// Its version, from 1.
    pub version: u32,
    /// Its text.
    pub text: &'static str,
}

macro_rules! sources {
    ($($family:ident: $($version:literal),+;)+) => {
        /// All versions of all schemas; within a family in rising order.
        pub const SOURCES: &[Source] = &[$($(Source {
            family: stringify!($family),
            version: $version,
            text: include_str!(concat!("../", stringify!($family), "/v", stringify!($version), ".avsc")),
        }),+),+];
    };
}

sources! {
    record: 1;
    annotation_text: 1;
    traces_imported: 1;
    otel_received: 1;
    trace_deleted: 1;
    trace_titled: 1;
    title_failed: 1;
    title_requested: 1;
    annotation_created: 1;
    annotation_changed: 1;
    annotation_deleted: 1;
    judgments_imported: 1;
    reward_model_created: 1, 2;
    reward_model_trained: 1, 2;
    reward_model_renamed: 1;
    reward_model_deleted: 1;
    judge_answered: 1;
    findings_recorded: 1;
    scoring_requested: 1;
    scores_recorded: 1, 2;
    job_requested: 1;
    job_claimed: 1;
    job_progressed: 1, 2;
    job_completed: 1;
    job_failed: 1;
    job_cancel_requested: 1;
    job_cancelled: 1;
    job_lease_expired: 1;
    job_parked: 1;
    account_created: 1;
    reward_models_switched: 1;
    llm_switched: 1;
    api_key_created: 1;
    api_key_revoked: 1;
}
