//! `GET /reward-models`: the owner's models, newest first.

use crate::errors::Failure;
use crate::params::Params;
use crate::state::QueryState;
use crate::types::RewardModel;
use axum::extract::State;
use axum::response::Response;
use http::Uri;
use stash_infra::identity::Caller;
use utoipa::IntoParams;

/// The parameters, for the API description; they are read by hand, strictly.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "only describes")]
pub(crate) struct ListParams {
    /// Models of the page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<i64>,
    /// Models to pass over.
    #[param(minimum = 0, default = 0)]
    offset: Option<i64>,
}

/// List reward models
///
/// Newest first. When there are more than the page holds, a `Link` header with `rel="next"` names the next page.
#[utoipa::path(
    get,
    operation_id = "list_reward_models",
    path = "/reward-models",
    tag = "reward models",
    params(ListParams),
    responses((
        status = 200,
        description = "A page of models",
        body = Vec<RewardModel>,
        headers(("Link" = Option<String>, description = "The next page, if there is one: `<?limit=…&offset=…>; rel=\"next\"`")),
    )),
)]
pub(crate) async fn list(State(state): State<QueryState>, caller: Caller, uri: Uri) -> Result<Response, Failure> {
    let mut params = Params::of(&uri)?;
    let page = params.page()?;
    params.end()?;
    let mut tx = state.begin(caller.owner_id).await?;
    // One row more than asked for tells whether there is a next page.
    let models: Vec<RewardModel> = sqlx::query_as(include_str!("list.sql"))
        .bind(caller.owner_id.0)
        .bind(page.limit + 1)
        .bind(page.offset)
        .fetch_all(&mut *tx)
        .await?;
    Ok(page.answer(models))
}
