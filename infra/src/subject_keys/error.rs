//! Why keys could not be had.

use super::master::MasterKeyId;
use super::master_file::MasterFileError;
use std::path::PathBuf;

/// Why a call failed. A key that is not there is no failure.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Postgres cannot be reached or refused. The same call may be repeated.
    #[error("subject keys cannot be reached: {0}")]
    Database(#[from] sqlx::Error),
    /// The master key file cannot be used.
    #[error(transparent)]
    File(#[from] MasterFileError),
    /// Keys in the database are wrapped by a master key that the file does not have.
    #[error(
        "the database's keys are wrapped by master key {id}, which is not in {}; restore that file from its backup",
        path.display()
    )]
    MasterMissing {
        /// The master key.
        id: MasterKeyId,
        /// The file.
        path: PathBuf,
    },
    /// The file's first key is being retired by a rotation that another copy of the file began.
    #[error("master key {id} is being retired, but {} still has it first; use the file of the rotation", path.display())]
    MasterRetiring {
        /// The master key.
        id: MasterKeyId,
        /// The file.
        path: PathBuf,
    },
    /// A row is not what we wrote.
    #[error("the key of a subject is damaged in the database (subject {0})")]
    Damaged(stash_domain::ids::SubjectId),
    /// The operating system gives no random bytes.
    #[error("no random bytes: {0}")]
    Random(std::io::Error),
}
