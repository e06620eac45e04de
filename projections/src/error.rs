//! Why a batch, a rebuild or a projector stopped.

use stash_domain::position::{Offset, Partition};
use stash_infra::event_log::LogError;

/// Why a batch could not be applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The database refused or cannot be reached.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// A store that content lies in cannot be reached; trying again later may help.
    #[error("stored content cannot be reached: {0}")]
    Unavailable(String),
    /// An event of the batch can never be applied. It is found by bisection and put aside.
    #[error("{code}: {message}")]
    Poison {
        /// Stable code, kept in the dead letter.
        code: &'static str,
        /// What is wrong, for the log.
        message: String,
    },
    /// Another projector took or moved a partition, or other tables are shown now: nothing was written.
    #[error("another projector has taken over")]
    Fenced,
    /// The log's reader left out records: nothing was written.
    #[error("partition {}: the log gave record {} where {} was next", partition.0, found.0, expected.0)]
    Gap {
        /// The partition.
        partition: Partition,
        /// The next record.
        expected: Offset,
        /// The record handed out.
        found: Offset,
    },
}

impl ApplyError {
    /// A row of ours that cannot be read back.
    pub(crate) fn damaged(column: &'static str) -> Self {
        Self::Database(sqlx::Error::Decode(format!("{column} holds a value that Stash never writes").into()))
    }

    /// An event that can never be applied.
    pub(crate) fn poison(code: &'static str, message: impl ToString) -> Self {
        Self::Poison { code, message: message.to_string() }
    }

    /// Whether the batch itself is at fault, rather than the database, a store or another projector. SQLSTATE classes 21
    /// (cardinality), 22 (data), 23 (constraint) and 54 (limits of the program) are the data's fault; everything else may pass.
    pub(crate) fn is_poison(&self) -> bool {
        match self {
            Self::Poison { .. } => true,
            Self::Database(sqlx::Error::Database(error)) => {
                error.code().is_some_and(|code| ["21", "22", "23", "54"].iter().any(|class| code.starts_with(class)))
            }
            _ => false,
        }
    }

    /// The code kept with a dead letter.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Poison { code, .. } => code,
            _ => "refused_by_database",
        }
    }
}

/// Why a projector or a rebuild stopped.
#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    /// Applying failed for a reason that may pass.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The log failed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The checkpoint belongs to another log.
    #[error(
        "the read models of partition {} were made from another event log; if the log was replaced on purpose, run `stash projections rebuild`",
        .0.0
    )]
    AnotherLog(Partition),
    /// Another process is rebuilding the read models.
    #[error("another rebuild is at work; wait until it has ended")]
    Rebuilding,
    /// A rebuild gave other rows than the live read models.
    #[error("table {table} differs after the rebuild: {live} live, {rebuilt} rebuilt; the live one was kept")]
    Differs {
        /// The table.
        table: String,
        /// Digest of the live table.
        live: String,
        /// Digest of the rebuilt one.
        rebuilt: String,
    },
}

impl From<sqlx::Error> for ProjectionError {
    fn from(error: sqlx::Error) -> Self {
        Self::Apply(ApplyError::Database(error))
    }
}
