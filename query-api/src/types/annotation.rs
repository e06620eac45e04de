//! Ratings and comments.

use super::{Moment, names};
use serde::{Deserialize, Serialize};
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::{Decode, FromRow, Postgres, Type};
use utoipa::ToSchema;
use uuid::Uuid;

/// The highlighted part of a step's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Quote {
    /// The quoted text.
    pub text: String,
    /// A few characters before it, to tell repeated text apart.
    #[serde(default)]
    pub prefix: String,
    /// A few characters after it.
    #[serde(default)]
    pub suffix: String,
}

impl Type<Postgres> for Quote {
    fn type_info() -> PgTypeInfo {
        <String as Type<Postgres>>::type_info()
    }

    fn compatible(ty: &PgTypeInfo) -> bool {
        <String as Type<Postgres>>::compatible(ty)
    }
}

impl<'r> Decode<'r, Postgres> for Quote {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(serde_json::from_str(<&str as Decode<Postgres>>::decode(value)?)?)
    }
}

/// A rating, a comment, or both, on a trace or one of its steps.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct Annotation {
    /// Its id.
    pub id: Uuid,
    /// Its trace.
    pub trace_id: Uuid,
    /// Its step; null means the whole trace.
    #[schema(required = true)]
    pub step_id: Option<Uuid>,
    /// 1, -1 or null.
    #[schema(required = true, value_type = Option<names::Rating>)]
    pub rating: Option<i16>,
    /// The comment.
    #[schema(required = true)]
    pub comment: Option<String>,
    /// The quoted part of the step's content.
    #[schema(required = true)]
    pub quote: Option<Quote>,
    /// Whether someone flagged the label as wrong: it then stays visible and trains nothing.
    pub label_error: bool,
    /// Why it is wrong.
    #[schema(required = true)]
    pub label_error_note: Option<String>,
    /// Who wrote it.
    pub author_id: Uuid,
    /// The author's name at that time; null once erased.
    #[schema(required = true)]
    pub author_name: Option<String>,
    /// When it was written.
    pub created_at: Moment,
    /// When it last changed.
    pub updated_at: Moment,
    /// Its version, for `If-Match`: the number of changes, the writing included.
    pub version: i64,
}

/// A line of the annotation export.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct ExportedAnnotation {
    /// The trace.
    pub trace_id: Uuid,
    /// The id the trace has where it was recorded.
    #[schema(required = true)]
    pub trace_external_id: Option<String>,
    /// Zero-based index of the step; null means the whole trace.
    #[schema(required = true)]
    pub step_index: Option<i32>,
    /// 1, -1 or null.
    #[schema(required = true, value_type = Option<names::Rating>)]
    pub rating: Option<i16>,
    /// The comment.
    #[schema(required = true)]
    pub comment: Option<String>,
    /// The quoted part of the step's content.
    #[schema(required = true)]
    pub quote: Option<Quote>,
    /// Whether someone flagged the label as wrong.
    pub label_error: bool,
    /// Name of the author; null once erased.
    #[schema(required = true)]
    pub author: Option<String>,
    /// When it was written.
    pub created_at: Moment,
}
