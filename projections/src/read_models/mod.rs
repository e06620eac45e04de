//! The read models: what each table holds is a fold over the accepted records.
//!
//! Each model gets the accepted records of a batch in the order of the log and writes rows that depend on that order alone,
//! never on how batches fell. A model may touch only its own tables.

mod annotations;
mod jobs;
mod learning;
mod llm_switches;
mod reward_models;
mod scores;
mod scoring_runs;
mod traces;

use crate::error::ApplyError;
use crate::fresh::Fresh;
use sqlx::PgConnection;
use stash_domain::events::Event;
use stash_domain::ids::{OwnerId, SubjectId};
use stash_domain::record::Record;
use stash_domain::views::Context;
use stash_infra::artifacts::{ArtifactError, ArtifactStore};
use stash_infra::bundle::BundleError;
use stash_infra::subject_keys::SubjectKeys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A record that takes effect.
pub(crate) struct Accepted<'a> {
    /// The record.
    pub(crate) record: &'a Record,
}

impl Accepted<'_> {
    /// Its events.
    fn events(&self) -> impl Iterator<Item = &Event> {
        self.record.events().map(|(_, event)| event)
    }

    /// What folds may know besides the event.
    fn context(&self) -> Context {
        Context { recorded_at: self.record.recorded_at }
    }
}

/// What read models need besides the database.
#[derive(Clone)]
pub struct Deps {
    /// Opens sealed content.
    pub keys: Arc<SubjectKeys>,
    /// Where blobs lie.
    pub store: Arc<dyn ArtifactStore>,
}

/// Which tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Those that are shown. Only this shreds the keys of what is deleted, and tells other processes of its commits.
    Live,
    /// Those of a rebuild. It must not shred: the trace of an old deletion may have been imported again since.
    Rebuild,
}

/// [`Deps`] at work.
pub(crate) struct Tools {
    pub(crate) keys: Arc<SubjectKeys>,
    pub(crate) store: Arc<dyn ArtifactStore>,
    pub(crate) kind: Kind,
    pub(crate) fresh: Fresh,
    dead_letters: AtomicBool,
}

impl Tools {
    /// `dead_letters`: whether the dead-letter table may hold anything.
    pub(crate) fn new(deps: &Deps, kind: Kind, dead_letters: bool) -> Self {
        let (keys, store) = (Arc::clone(&deps.keys), Arc::clone(&deps.store));
        let fresh = match kind {
            Kind::Live => Fresh::unknown(),
            Kind::Rebuild => Fresh::empty(),
        };
        Self { keys, store, kind, fresh, dead_letters: AtomicBool::new(dead_letters) }
    }

    pub(crate) fn has_dead_letters(&self) -> bool {
        self.dead_letters.load(Ordering::Acquire)
    }

    pub(crate) fn note_dead_letter(&self) {
        self.dead_letters.store(true, Ordering::Release);
    }
}

/// Subjects erased by a batch. This process must forget their keys once the batch is committed, and must not open anything
/// more of them in the same batch (see [`ends_batch`]).
pub(crate) type Shredded = Vec<(OwnerId, Vec<SubjectId>)>;

/// Whether nothing but further such records may follow in the same transaction. What comes after a deletion finds the keys
/// gone only after the commit; without this cut, what it could read would depend on how batches fell.
pub(crate) fn ends_batch(record: &Record) -> bool {
    record.events().any(|(_, event)| matches!(event, Event::TraceDeleted(_) | Event::RewardModelDeleted(_)))
}

/// Tables that an owner's rows stand in, with the columns that order them. Row-level security and digests go over this list.
pub(crate) const TABLES: &[&str] = &[
    "rm_traces",
    "rm_trace_subjects",
    "rm_trace_titles",
    "rm_steps",
    "rm_spans",
    "rm_otel_frames",
    "rm_otel_spans",
    "rm_otel_traces",
    "rm_annotations",
    "rm_judgments",
    "rm_jobs",
    "rm_reward_models",
    "rm_deleted_reward_models",
    "rm_reward_model_traces",
    "rm_training_pairs",
    "rm_learning_reports",
    "rm_findings",
    "rm_judge_calls",
    "rm_trace_scores",
    "rm_action_scores",
    "rm_scoring_runs",
    "rm_llm_switches",
];

/// Further tables that an owner's rows stand in: what folds remember to be fast. They can be made again from the others, and no
/// digest goes over them.
pub(crate) const MEMO_TABLES: &[&str] = &["rm_otel_states"];

/// DDL of all read models.
pub(crate) const DDL: &[&str] = &[
    traces::DDL,
    traces::OTEL_DDL,
    annotations::DDL,
    jobs::DDL,
    reward_models::DDL,
    learning::DDL,
    llm_switches::DDL,
    scores::DDL,
    scoring_runs::DDL,
];

/// Applies a batch to every read model.
pub(crate) async fn apply_all(
    tx: &mut PgConnection,
    batch: &[Accepted<'_>],
    tools: &Tools,
) -> Result<Shredded, ApplyError> {
    if batch.is_empty() {
        return Ok(Shredded::new());
    }
    let mut shredded = traces::apply(tx, batch, tools).await?;
    annotations::apply(tx, batch, tools).await?;
    jobs::apply(tx, batch).await?;
    shredded.extend(reward_models::apply(tx, batch, tools).await?);
    learning::apply(tx, batch, tools).await?;
    llm_switches::apply(tx, batch).await?;
    scoring_runs::apply(tx, batch).await?;
    scores::apply(tx, batch, tools).await?;
    Ok(shredded)
}

/// Text as Postgres can hold it: without NUL. The doors drop or refuse it; a fold must not fail on what came in all the same.
fn without_nul(mut text: String) -> String {
    text.retain(|character| character != '\0');
    text
}

/// How a failure to read a bundle counts: what is missing or damaged is the event's fault, what cannot be reached may come back.
fn bundle_error(error: BundleError) -> ApplyError {
    match error {
        BundleError::Store(ArtifactError::Unavailable(_) | ArtifactError::Full(_))
        | BundleError::Keys(_)
        | BundleError::Stopped => ApplyError::Unavailable(error.to_string()),
        BundleError::Store(ArtifactError::Missing(_)) => ApplyError::poison("blob_missing", error),
        _ => ApplyError::poison("bundle_damaged", error),
    }
}
