//! What decisions depend on, read from the read models as the caller. A decision made on a row that has changed meanwhile is
//! caught by the version it names, or harmless.

pub(crate) mod annotation;
pub(crate) mod reward_model;

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::TracePath;
use stash_domain::ids::{SubjectId, TraceId};
use stash_infra::identity::Caller;
use stash_infra::postgres::OwnerTx;
use uuid::Uuid;

/// A trace, as commands see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its id.
    pub id: TraceId,
    /// Subject whose key seals its content now.
    pub subject: SubjectId,
    /// Number of its actions.
    pub action_count: i64,
}

impl CommandState {
    /// Begins a read as the caller.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn read(&self, caller: &Caller) -> Result<OwnerTx, Refused> {
        Ok(OwnerTx::begin(&self.pools.api, caller.owner_id).await?)
    }

    /// The id of a trace of the caller that can be deleted: one that is shown, or of which spans were sent.
    ///
    /// # Errors
    /// `not_found`; those of the database.
    pub async fn deletable_trace(&self, caller: &Caller, path: &TracePath) -> Result<TraceId, Refused> {
        let mut tx = self.read(caller).await?;
        let id = path.id(caller.owner_id);
        let row: Option<(i32,)> = sqlx::query_as(include_str!("deletable_trace.sql"))
            .bind(caller.owner_id.0)
            .bind(id.0)
            .fetch_optional(&mut *tx)
            .await?;
        row.map(|_| id).ok_or_else(|| path.not_found().into())
    }

    /// A trace of the caller.
    ///
    /// # Errors
    /// `not_found`; those of the database.
    pub async fn trace(&self, caller: &Caller, path: &TracePath) -> Result<Trace, Refused> {
        let mut tx = self.read(caller).await?;
        let row: Option<(Uuid, Uuid, i32)> = sqlx::query_as(include_str!("trace.sql"))
            .bind(caller.owner_id.0)
            .bind(path.id(caller.owner_id).0)
            .fetch_optional(&mut *tx)
            .await?;
        let (id, subject, action_count) = row.ok_or_else(|| path.not_found())?;
        Ok(Trace { id: id.into(), subject: subject.into(), action_count: action_count.into() })
    }
}
