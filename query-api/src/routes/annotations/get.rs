//! `GET /annotations/{annotation_id}`: one annotation.

use crate::errors::Failure;
use crate::ids::{PathId, uuid};
use crate::load;
use crate::state::QueryState;
use crate::types::Annotation;
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use sqlx::PgConnection;
use stash_domain::ids::{AnnotationId, OwnerId};
use stash_infra::http::ETag;
use stash_infra::identity::Caller;
use stash_infra::postgres::grouped::Lookup;

/// Finds annotations by id.
pub(crate) struct Annotations;

impl Lookup for Annotations {
    type Key = AnnotationId;
    type Found = Annotation;

    async fn find(
        connection: &mut PgConnection,
        owner: OwnerId,
        ids: &[AnnotationId],
    ) -> Result<Vec<(AnnotationId, Annotation)>, sqlx::Error> {
        let found = load::annotations(connection, owner, ids).await?;
        Ok(found.into_iter().map(|annotation| (annotation.id.into(), annotation)).collect())
    }
}

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
    let annotation = state.annotations().find(caller.owner_id, id.into()).await?;
    let annotation = annotation.ok_or_else(|| Failure::not_found("annotation", id))?;
    Ok((ETag(annotation.version.cast_unsigned()), Json(annotation)))
}
