//! A trace that waits for messages.

use super::Moment;
use serde::Serialize;
use sqlx::FromRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// A trace of which spans were sent, but no call of a model yet.
#[derive(Clone, Debug, Serialize, FromRow, ToSchema)]
pub struct PendingTrace {
    /// The id that it will have as a trace; it can be deleted by it.
    pub id: Uuid,
    /// The id that it has where it was recorded: 32 hexadecimal digits.
    pub trace_id: String,
    /// Number of spans.
    pub span_count: i32,
    /// Number of log records that tell of messages.
    pub log_count: i32,
    /// The earliest time in it, nanoseconds since the epoch; null if it has none.
    #[schema(required = true)]
    pub first_ns: Option<String>,
    /// The latest time in it.
    #[schema(required = true)]
    pub last_ns: Option<String>,
    /// When something new of it was received last.
    pub updated_at: Moment,
}
