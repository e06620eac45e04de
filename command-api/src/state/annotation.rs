//! Annotations and what they stand on, as commands see them.

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::TracePath;
use crate::routes::traces::import::keys_problem;
use sqlx::PgConnection;
use stash_domain::annotation::{AnnotationText, Quote};
use stash_domain::commands::annotations::change::State;
use stash_domain::error::Code;
use stash_domain::ids::{AnnotationId, OwnerId, StepId, SubjectId, TraceId};
use stash_domain::sealed::Sealed;
use stash_domain::trace::Role;
use stash_infra::http::Problem;
use stash_infra::identity::Caller;
use stash_infra::postgres::grouped::Lookup;
use stash_infra::seal::{self, Purpose};
use uuid::Uuid;

/// A trace, and a step of it if one was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The trace.
    pub trace_id: TraceId,
    /// Subject whose key seals its content now.
    pub subject_id: SubjectId,
    /// The step's role and content.
    pub step: Option<(Role, String)>,
}

/// An annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    /// Its trace.
    pub trace_id: TraceId,
    /// Subject whose key seals the trace's content now.
    pub subject_id: SubjectId,
    /// What can be changed of it.
    pub state: State,
    /// Role and content of its step; none for a whole trace.
    pub step: Option<(Role, String)>,
    /// Version of its stream.
    pub version: u64,
}

#[derive(sqlx::FromRow)]
struct Row {
    trace_id: Uuid,
    rating: Option<i16>,
    comment: Option<String>,
    quote: Option<String>,
    label_error: bool,
    label_error_note: Option<String>,
    author_name: Option<String>,
    version: i64,
    subject_id: Uuid,
    role: Option<String>,
    content: Option<String>,
}

/// Finds what new annotations would stand on.
pub(crate) struct Targets;

/// A trace, perhaps a step, and whether the step's content is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TargetKey {
    trace_id: TraceId,
    step_id: Option<StepId>,
    with_content: bool,
}

/// A trace, and the step if it is one of the trace's.
#[derive(Clone, sqlx::FromRow)]
pub(crate) struct TargetRow {
    wanted: i64,
    trace_id: Uuid,
    subject_id: Uuid,
    role: Option<String>,
    content: Option<String>,
}

impl Lookup for Targets {
    type Key = TargetKey;
    type Found = TargetRow;

    async fn find(
        connection: &mut PgConnection,
        owner: OwnerId,
        keys: &[TargetKey],
    ) -> Result<Vec<(TargetKey, TargetRow)>, sqlx::Error> {
        let rows: Vec<TargetRow> = sqlx::query_as(include_str!("targets.sql"))
            .bind(owner.0)
            .bind(keys.iter().map(|key| key.trace_id.0).collect::<Vec<_>>())
            .bind(keys.iter().map(|key| key.step_id.map(|id| id.0)).collect::<Vec<_>>())
            .bind(keys.iter().map(|key| key.with_content).collect::<Vec<_>>())
            .fetch_all(connection)
            .await?;
        let key_of = |row: &TargetRow| usize::try_from(row.wanted - 1).ok().and_then(|place| keys.get(place)).copied();
        Ok(rows.into_iter().filter_map(|row| Some((key_of(&row)?, row))).collect())
    }
}

fn step_of(role: Option<String>, content: Option<String>) -> Result<Option<(Role, String)>, Problem> {
    let Some((role, content)) = role.zip(content) else { return Ok(None) };
    let role = role.parse().map_err(|error| Problem::internal(&error))?;
    Ok(Some((role, content)))
}

impl CommandState {
    /// What a new annotation would stand on.
    ///
    /// # Errors
    /// `not_found` for the trace, `bad_annotation` for a step that is not of it; those of the database.
    pub async fn annotation_target(
        &self,
        caller: &Caller,
        path: &TracePath,
        step: Option<StepId>,
        with_content: bool,
    ) -> Result<Target, Refused> {
        let key = TargetKey { trace_id: path.id(caller.owner_id), step_id: step, with_content };
        let target = self.targets().find(caller.owner_id, key).await?.ok_or_else(|| path.not_found())?;
        let step_found = step_of(target.role, target.content)?;
        let target =
            Target { trace_id: target.trace_id.into(), subject_id: target.subject_id.into(), step: step_found };
        match step {
            Some(id) if target.step.is_none() => {
                let detail = format!("step_id: the trace has no step {id}");
                Err(Problem::new(Code::BadAnnotation, detail).into())
            }
            _ => Ok(target),
        }
    }

    /// An annotation of the caller.
    ///
    /// # Errors
    /// `not_found`; those of the database.
    pub async fn annotation(&self, caller: &Caller, id: AnnotationId) -> Result<Existing, Refused> {
        let mut tx = self.read(caller).await?;
        let row: Option<Row> = sqlx::query_as(include_str!("annotation.sql"))
            .bind(caller.owner_id.0)
            .bind(id.0)
            .fetch_optional(&mut *tx)
            .await?;
        let row = row.ok_or_else(|| Problem::new(Code::NotFound, format!("there is no annotation {id}")))?;
        let quote: Option<Quote> = row
            .quote
            .map(|quote| serde_json::from_str(&quote))
            .transpose()
            .map_err(|error| Problem::internal(&error))?;
        let text = AnnotationText {
            comment: row.comment,
            quote,
            label_error_note: row.label_error_note,
            author_name: row.author_name,
        };
        Ok(Existing {
            trace_id: row.trace_id.into(),
            subject_id: row.subject_id.into(),
            state: State { rating: row.rating.map(i64::from), label_error: row.label_error, text },
            step: step_of(row.role, row.content)?,
            version: row.version.cast_unsigned(),
        })
    }

    /// Seals an annotation's text.
    ///
    /// # Errors
    /// `not_found` when the trace's key has just been shredded; those of the database.
    pub async fn seal_text(
        &self,
        owner: OwnerId,
        subject: SubjectId,
        text: &AnnotationText,
    ) -> Result<Sealed, Refused> {
        let keys = self.keys.get(owner, &[subject]).await.map_err(keys_problem)?;
        let key = keys.get(&subject).ok_or_else(|| Problem::new(Code::NotFound, "the trace was deleted meanwhile"))?;
        let plain = stash_schemas::encode_text(text).map_err(|error| Problem::internal(&error))?;
        Ok(seal::seal(key, Purpose::ANNOTATION_TEXT, &plain).map_err(|error| Problem::internal(&error))?)
    }
}
