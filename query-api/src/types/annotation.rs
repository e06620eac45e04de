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

/// Where an annotation comes from that nobody wrote here: it came with its trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnnotationSource {
    /// The tool.
    #[schema(pattern = "^(langfuse|langsmith)$")]
    pub name: String,
    /// Its id there.
    pub id: String,
    /// What was judged, such as `user-feedback`.
    pub judged: String,
    /// How it came about, in the tool's words, such as `human`, `api` or `eval`.
    #[schema(required = true)]
    pub origin: Option<String>,
}

impl Type<Postgres> for AnnotationSource {
    fn type_info() -> PgTypeInfo {
        <String as Type<Postgres>>::type_info()
    }

    fn compatible(ty: &PgTypeInfo) -> bool {
        <String as Type<Postgres>>::compatible(ty)
    }
}

impl<'r> Decode<'r, Postgres> for AnnotationSource {
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
    /// Who wrote it, or imported it.
    pub author_id: Uuid,
    /// The author's name at that time, or the tool it comes from; null once erased.
    #[schema(required = true)]
    pub author_name: Option<String>,
    /// Where it comes from; null for one that was written here.
    #[schema(required = true)]
    pub source: Option<AnnotationSource>,
    /// When it was written.
    pub created_at: Moment,
    /// When it last changed.
    pub updated_at: Moment,
    /// Its version, for `If-Match`: the number of changes, the writing included; 0 for one that came with
    /// its trace and was not changed since.
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
    /// Name of the author, or the tool it comes from; null once erased.
    #[schema(required = true)]
    pub author: Option<String>,
    /// Where it comes from; null for one that was written here.
    #[schema(required = true)]
    pub source: Option<AnnotationSource>,
    /// When it was written.
    pub created_at: Moment,
}
