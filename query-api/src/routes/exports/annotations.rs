//! `GET /export/annotations`: all annotations that are shown, oldest first.

use crate::body::{self, BodyError, Writer};
use crate::errors::Failure;
use crate::params::Params;
use crate::state::QueryState;
use crate::types::ExportedAnnotation;
use axum::extract::State;
use axum::response::Response;
use http::Uri;
use stash_domain::ids::OwnerId;
use stash_infra::identity::Caller;
use stash_infra::postgres::OwnerTx;

/// Export annotations
///
/// One annotation a line, oldest first. Annotations on steps that no longer exist are left out.
#[utoipa::path(
    get,
    operation_id = "export_annotations",
    path = "/export/annotations",
    tag = "export",
    responses((
        status = 200,
        description = "JSON lines",
        content_type = "application/jsonl",
        body = ExportedAnnotation,
    )),
)]
pub(crate) async fn annotations(
    State(state): State<QueryState>,
    caller: Caller,
    uri: Uri,
) -> Result<Response, Failure> {
    Params::of(&uri)?.end()?;
    let tx = state.begin(caller.owner_id).await?;
    let work = |writer| write(writer, tx, caller.owner_id);
    Ok(body::respond(body::JSON_LINES, state.long_answers(), work).await?)
}

async fn write(mut writer: Writer, mut tx: OwnerTx, owner: OwnerId) -> Result<Writer, BodyError> {
    // Sorted once by the server and then fetched piece by piece, since no index has this order.
    sqlx::query(include_str!("annotations.sql")).bind(owner.0).execute(&mut *tx).await?;
    loop {
        let rows: Vec<ExportedAnnotation> =
            sqlx::query_as(include_str!("next_annotations.sql")).fetch_all(&mut *tx).await?;
        if rows.is_empty() {
            return Ok(writer);
        }
        for row in &rows {
            writer.json(row)?;
            writer.raw("\n");
            writer.pause().await?;
        }
    }
}
