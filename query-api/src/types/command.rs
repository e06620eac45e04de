//! What became of a command.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Where a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandState {
    /// It may still be on its way; ask again.
    Pending,
    /// It took effect.
    Accepted,
    /// It had no effect: something had changed since the version it named.
    Conflict,
}

/// The status of a command.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CommandStatus {
    /// The command.
    pub command_id: Uuid,
    /// Where it is.
    pub state: CommandState,
    /// Its place in the log, for `X-Stash-Min-Position`; null while pending.
    #[schema(required = true)]
    pub position: Option<String>,
    /// What it collided with; null unless it did.
    #[schema(required = true)]
    pub conflict: Option<CommandConflict>,
}

/// Why a command had no effect.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CommandConflict {
    /// What it was about, such as `annotation/<id>`.
    pub stream: String,
    /// The version the command named.
    pub expected: i64,
    /// The version it had.
    pub actual: i64,
}
