//! `GET /otel/pending`: traces of which spans were sent, and that have nothing to show yet.

use crate::errors::Failure;
use crate::params::Params;
use crate::state::QueryState;
use crate::types::PendingTrace;
use axum::extract::State;
use axum::response::Response;
use http::Uri;
use stash_infra::identity::Caller;
use utoipa::IntoParams;

/// The parameters, for the API description; they are read by hand, strictly.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "only describes")]
pub(crate) struct PendingParams {
    /// Traces of the page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<i64>,
    /// Traces to pass over.
    #[param(minimum = 0, default = 0)]
    offset: Option<i64>,
}

/// List traces that wait for messages
///
/// Spans or log records of these traces were sent, but no call of a model with its messages among them, so there is nothing to show.
/// They are kept, and become traces with the first such call. Those that changed last come first. When there are more than the page
/// holds, a `Link` header with `rel="next"` names the next page.
#[utoipa::path(
    get,
    operation_id = "list_pending_otel_traces",
    path = "/otel/pending",
    tag = "otel",
    params(PendingParams),
    responses((
        status = 200,
        description = "A page of them",
        body = Vec<PendingTrace>,
        headers(("Link" = Option<String>, description = "The next page, if there is one: `<?limit=…&offset=…>; rel=\"next\"`")),
    )),
)]
pub(crate) async fn pending(State(state): State<QueryState>, caller: Caller, uri: Uri) -> Result<Response, Failure> {
    let mut params = Params::of(&uri)?;
    let page = params.page()?;
    params.end()?;
    let mut tx = state.begin(caller.owner_id).await?;
    // One row more than asked for tells whether there is a next page.
    let traces: Vec<PendingTrace> = sqlx::query_as(include_str!("pending.sql"))
        .bind(caller.owner_id.0)
        .bind(page.limit + 1)
        .bind(page.offset)
        .fetch_all(&mut *tx)
        .await?;
    Ok(page.answer(traces))
}
