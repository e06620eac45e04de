//! `GET /traces`: a page of the owner's traces, filtered and sorted.

use super::filter::TraceFilter;
use crate::cursor::{Cursor, list_id};
use crate::errors::Failure;
use crate::params::{Params, invalid};
use crate::state::QueryState;
use crate::types::{TraceList, TraceSummary, names};
use axum::Json;
use axum::extract::State;
use http::Uri;
use sqlx::FromRow;
use stash_domain::error::Code;
use stash_infra::http::Problem;
use stash_infra::identity::Caller;
use utoipa::IntoParams;
use uuid::Uuid;

macro_rules! statement {
    ($($file:literal),+) => { concat!($(include_str!(concat!("list/", $file, ".sql"))),+) };
}

macro_rules! page_statement {
    ($sort:literal) => {
        statement!("common", "filter", $sort, "summary")
    };
}

/// Counts what the filters let through.
const COUNT: &str = statement!("common", "filter", "count");

/// The orders that a list can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sort {
    #[default]
    Newest,
    Oldest,
    MostSteps,
    FewestSteps,
    HighestScore,
    LowestScore,
}

impl Sort {
    const ALL: [Self; 6] =
        [Self::Newest, Self::Oldest, Self::MostSteps, Self::FewestSteps, Self::HighestScore, Self::LowestScore];

    fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::MostSteps => "most_steps",
            Self::FewestSteps => "fewest_steps",
            Self::HighestScore => "highest_score",
            Self::LowestScore => "lowest_score",
        }
    }

    /// The statement of the first page, or of one after a cursor.
    fn statement(self, after: bool) -> &'static str {
        match self {
            Self::Newest if after => page_statement!("newest_after"),
            Self::Newest => page_statement!("newest"),
            Self::Oldest => page_statement!("oldest"),
            Self::MostSteps => page_statement!("most_steps"),
            Self::FewestSteps => page_statement!("fewest_steps"),
            Self::HighestScore => page_statement!("highest_score"),
            Self::LowestScore => page_statement!("lowest_score"),
        }
    }

    fn take(params: &mut Params) -> Result<Self, Problem> {
        let Some(name) = params.take("sort")? else { return Ok(Self::default()) };
        Self::ALL.into_iter().find(|sort| sort.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            invalid("sort", format_args!("must be one of {names}"))
        })
    }
}

/// A request for a page.
#[derive(Debug)]
struct Request {
    filter: TraceFilter,
    sort: Sort,
    limit: i64,
    offset: i64,
    /// Binds a cursor to this list.
    list: u64,
    cursor: Option<Cursor>,
}

impl Request {
    fn of(uri: &Uri) -> Result<Self, Problem> {
        let mut params = Params::of(uri)?;
        let page = params.page()?;
        let sort = Sort::take(&mut params)?;
        let cursor = params.take("cursor")?;
        let filter = TraceFilter::take(&mut params)?;
        params.end()?;
        if cursor.is_some() && page.offset > 0 {
            return Err(Problem::new(Code::BadLimit, "give either cursor or offset, not both"));
        }
        let list = list_id(&format!("{} {}", sort.name(), filter.describe()));
        let cursor = cursor.map(|text| Cursor::parse(&text, list)).transpose()?;
        Ok(Self { filter, sort, limit: page.limit, offset: page.offset, list, cursor })
    }
}

/// A trace and its place in the order.
#[derive(FromRow)]
struct Row {
    sort_key: f64,
    #[sqlx(flatten)]
    summary: TraceSummary,
}

/// The parameters, for the API description; they are read by hand, strictly.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "only describes")]
pub(crate) struct ListParams {
    /// Traces of the page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<i64>,
    /// Traces to pass over; for deep pages use `cursor`.
    #[param(minimum = 0, default = 0)]
    offset: Option<i64>,
    /// The `next_cursor` of the page before, with the same sort order and filters.
    cursor: Option<String>,
    /// `newest` (by import), `oldest`, `most_steps`, `fewest_steps`, `highest_score` or `lowest_score`.
    #[param(inline)]
    sort: Option<names::TraceSort>,
    /// Text that the title or a step contains, whatever its case.
    q: Option<String>,
    /// The id the trace has where it was recorded.
    external_id: Option<String>,
    /// Name of the format it was imported in.
    format: Option<String>,
    /// Imported at or after this moment.
    #[param(format = DateTime)]
    from: Option<String>,
    /// Imported before this moment.
    #[param(format = DateTime)]
    to: Option<String>,
    /// Metadata keys and the text each must have: `metadata[plan]=pro` or `metadata.plan=pro`.
    #[param(style = DeepObject, explode, value_type = Option<std::collections::BTreeMap<String, String>>)]
    metadata: Option<String>,
    /// Short for `metadata[agent]`.
    agent: Option<String>,
    /// Short for `metadata[model]`.
    model: Option<String>,
    /// Short for `metadata[session]`.
    session: Option<String>,
    /// Short for `metadata[user]`.
    user: Option<String>,
    /// Short for `metadata[environment]`.
    environment: Option<String>,
    /// One of the `tags` in the metadata.
    tag: Option<String>,
    /// A tool that a step calls, or whose result it is.
    tool_name: Option<String>,
    /// Whether it has an annotation with a comment.
    has_comment: Option<bool>,
    /// Whether it has an annotation flagged as wrong.
    has_label_error: Option<bool>,
    /// A rating it has, on itself or a step: 1 or -1. Those flagged as wrong do not count.
    #[param(inline, value_type = Option<names::Rating>)]
    rating: Option<i16>,
    /// The one model whose scores count for `score_min`, `score_max`, `sort` and `latest_score`; else the newest score does.
    reward_model_id: Option<Uuid>,
    /// Least score.
    score_min: Option<f64>,
    /// Greatest score.
    score_max: Option<f64>,
}

/// List traces
///
/// The owner's traces, newest import first unless `sort` says otherwise. `total` counts all that match.
#[utoipa::path(
    get,
    operation_id = "list_traces",
    path = "/traces",
    tag = "traces",
    params(ListParams),
    responses((status = 200, description = "A page of traces", body = TraceList)),
)]
pub(crate) async fn list(
    State(state): State<QueryState>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<TraceList>, Failure> {
    let request = Request::of(&uri)?;
    let mut tx = state.begin(caller.owner_id).await?;
    let owner = caller.owner_id.0;
    // One row more than asked for tells whether there is a next page. Not kept prepared: a plan made for these very filters
    // is worth more than the planning.
    let query = sqlx::query_as(request.sort.statement(request.cursor.is_some())).persistent(false);
    let mut rows: Vec<Row> = request
        .filter
        .bind_rows(query, owner)
        .bind(request.limit + 1)
        .bind(request.offset)
        .bind(request.cursor.map(|cursor| cursor.key))
        .bind(request.cursor.map(|cursor| cursor.id))
        .fetch_all(&mut *tx)
        .await?;
    let query = sqlx::query_scalar(COUNT).persistent(false);
    let total: i64 = request.filter.bind_scalar(query, owner).fetch_one(&mut *tx).await?;

    let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor = rows
        .last()
        .filter(|_| more)
        .map(|last| Cursor { key: last.sort_key, id: last.summary.id, list: request.list }.to_string());
    Ok(Json(TraceList { traces: rows.into_iter().map(|row| row.summary).collect(), total, next_cursor }))
}
