//! Traces: in a list, whole, and as exported.

use super::{ActionScore, Annotation, ExportedStep, JsonText, LatestScore, Moment, ScoringRun, Span, Step, TraceScore};
use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row};
use utoipa::ToSchema;
use uuid::Uuid;

/// A trace in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TraceSummary {
    /// Its id.
    pub id: Uuid,
    /// The id it has where it was recorded.
    #[schema(required = true)]
    pub external_id: Option<String>,
    /// Its title.
    pub title: String,
    /// Where the title is from: `given` with the trace, `edited` by a person here, `generated` by a language model, or `derived` from
    /// the first user message.
    pub title_source: String,
    /// Why a language model that was asked for a title gave none; null if it was not asked, or gave one. It is asked again on request.
    #[schema(required = true)]
    pub title_error: Option<String>,
    /// Name of the format it was imported in.
    pub source_format: String,
    /// Number of steps.
    pub step_count: i32,
    /// Number of assistant responses and tool calls among them.
    pub action_count: i32,
    /// Ratings of 1 that train: those flagged as wrong are left out.
    pub positive_count: i64,
    /// Ratings of -1 that train.
    pub negative_count: i64,
    /// Annotations with a comment.
    pub comment_count: i64,
    /// Annotations flagged as wrong.
    pub label_error_count: i64,
    /// When it was first imported.
    pub created_at: Moment,
    /// Its newest score; null if there is none.
    #[schema(required = true)]
    pub latest_score: Option<LatestScore>,
}

impl FromRow<'_, PgRow> for TraceSummary {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        let latest_score = match row.try_get("latest_reward_model_id")? {
            None => None,
            Some(reward_model_id) => Some(LatestScore {
                reward_model_id,
                reward_model_name: row.try_get("latest_reward_model_name")?,
                score: row.try_get("latest_score")?,
            }),
        };
        Ok(Self {
            id: row.try_get("trace_id")?,
            external_id: row.try_get("external_id")?,
            title: row.try_get("title")?,
            title_source: row.try_get("title_source")?,
            title_error: row.try_get("title_error")?,
            source_format: row.try_get("source_format")?,
            step_count: row.try_get("step_count")?,
            action_count: row.try_get("action_count")?,
            positive_count: row.try_get("positive_count")?,
            negative_count: row.try_get("negative_count")?,
            comment_count: row.try_get("comment_count")?,
            label_error_count: row.try_get("label_error_count")?,
            created_at: row.try_get("created_at")?,
            latest_score,
        })
    }
}

/// The title of a trace.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct TraceTitle {
    /// The trace.
    #[sqlx(rename = "trace_id")]
    pub id: Uuid,
    /// Its title.
    pub title: String,
    /// Where the title is from: `given`, `edited`, `generated` or `derived`.
    pub title_source: String,
    /// Why a language model that was asked for a title gave none.
    #[schema(required = true)]
    pub title_error: Option<String>,
}

/// A page of traces.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TraceList {
    /// The traces of this page.
    pub traces: Vec<TraceSummary>,
    /// How many traces match in all.
    pub total: i64,
    /// Hand it back as `cursor` for the next page; null on the last one.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// A whole trace. Written piece by piece, so this type only describes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TraceDetail {
    /// What a list shows of it.
    #[serde(flatten)]
    pub summary: TraceSummary,
    /// Metadata of the trace.
    pub metadata: JsonText,
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// Its timed operations; empty for untimed traces.
    pub spans: Vec<Span>,
    /// Annotations on the trace and on those steps that it still has, oldest first.
    pub annotations: Vec<Annotation>,
    /// The score each model gave it, newest first.
    pub scores: Vec<TraceScore>,
    /// The scores each model gave its actions, in the order of the steps.
    pub action_scores: Vec<ActionScore>,
    /// The newest scoring run of each model.
    pub scoring_runs: Vec<ScoringRun>,
}

/// A line of the trace export, in the Stash Trace Format: importing it gives the same trace. Written piece by piece by
/// [`stash_domain::formats::LineWriter`], so this type only describes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ExportedTrace {
    /// The id it has where it was recorded; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its title; absent unless a person gave it, since any other would come back as a given one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Metadata of the trace.
    pub metadata: JsonText,
    /// Its steps, in order.
    pub steps: Vec<ExportedStep>,
    /// Its timed operations; empty for untimed traces.
    pub spans: Vec<Span>,
}
