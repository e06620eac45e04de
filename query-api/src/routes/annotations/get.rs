//! `GET /annotations/{annotation_id}`: one annotation.

use crate::errors::Failure;
use crate::ids::{PathId, uuid};
use crate::state::QueryState;
use crate::types::Annotation;
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use stash_infra::http::ETag;
use stash_infra::identity::Caller;

/// Get an annotation
///
/// The `ETag` names its version, for a later `If-Match`.
#[utoipa::path(
    get,
    operation_id = "get_annotation",
    path = "/annotations/{annotation_id}",
    tag = "annotations",
    params(("annotation_id" = uuid::Uuid, Path, description = "Its id")),
    responses((
        status = 200,
        description = "The annotation",
        body = Annotation,
        headers(("ETag" = String, description = "Its version, such as \"3\"")),
    )),
)]
pub(crate) async fn get(
    State(state): State<QueryState>,
    caller: Caller,
    PathId(path): PathId,
) -> Result<impl IntoResponse, Failure> {
    let id = uuid(&path)?;
    let mut tx = state.begin(caller.owner_id).await?;
    let annotation: Option<Annotation> =
        sqlx::query_as(include_str!("get.sql")).bind(caller.owner_id.0).bind(id).fetch_optional(&mut *tx).await?;
    let annotation = annotation.ok_or_else(|| Failure::not_found("annotation", id))?;
    Ok((ETag(annotation.version.cast_unsigned()), Json(annotation)))
}
