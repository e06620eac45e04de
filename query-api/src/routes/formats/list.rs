//! `GET /formats`: what an import may be written in.

use crate::types::Format;
use axum::Json;
use stash_domain::formats;
use stash_infra::identity::Caller;

/// List the import formats
///
/// An import may name one of them, or `auto` to have it recognised.
#[utoipa::path(
    get,
    operation_id = "list_formats",
    path = "/formats",
    tag = "traces",
    responses((status = 200, description = "The formats", body = Vec<Format>)),
)]
pub(crate) async fn list(_: Caller) -> Json<Vec<Format>> {
    let formats = formats::all().into_iter();
    Json(formats.map(|format| Format { name: format.name, description: format.description }).collect())
}
