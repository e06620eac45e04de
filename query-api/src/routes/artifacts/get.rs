//! `GET /artifacts/{kind}/{owner}/{name}`: the file that a signed link names. The signature is the permission; no key is asked
//! for, so that a link can be handed to a download tool.

use crate::errors::Failure;
use crate::state::ArtifactLinks;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use stash_domain::error::Code;
use stash_infra::artifacts::link::LinkQuery;
use stash_infra::artifacts::{ArtifactError, ArtifactKey};
use stash_infra::http::Problem;
use std::sync::Arc;
use tokio_util::io::ReaderStream;

/// Fetch an artifact by a signed link
///
/// The link is made by the route that names the artifact, such as `GET /reward-models/{reward_model_id}/weights`, and works for
/// five minutes.
#[utoipa::path(
    get,
    operation_id = "get_artifact",
    path = "/artifacts/{kind}/{owner}/{name}",
    tag = "artifacts",
    params(
        ("kind" = String, Path, description = "Kind of artifact"),
        ("owner" = uuid::Uuid, Path, description = "Whose it is"),
        ("name" = String, Path, description = "Its file name"),
        ("expires" = i64, Query, description = "When the link ends, Unix seconds"),
        ("signature" = String, Query, description = "Proof that we made the link"),
    ),
    responses(
        (status = 200, description = "The file", content_type = "application/gzip", body = Vec<u8>),
    ),
    security(()),
)]
pub(crate) async fn get(
    State(links): State<Arc<ArtifactLinks>>,
    path: Result<Path<(String, String, String)>, PathRejection>,
    query: Result<Query<LinkQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let refuse = |detail: &str| Failure::from(Problem::new(Code::BadLink, detail));
    let Path((kind, owner, name)) = path.map_err(|_| refuse("the link is incomplete: ask for a new one"))?;
    let Query(query) = query.map_err(|_| refuse("the link is incomplete: ask for a new one"))?;
    let key: ArtifactKey =
        format!("{kind}/{owner}/{name}").parse().map_err(|_| refuse("the link names no artifact"))?;
    links.signer.verify(&key, &query, links.clock.now()).map_err(|error| refuse(&error.to_string()))?;

    let reader = links.store.read_file(&key).await.map_err(|error| match error {
        ArtifactError::Missing(_) => Failure::not_found("artifact", &key),
        ArtifactError::Unavailable(_) | ArtifactError::Full(_) => {
            tracing::warn!(%error, "an artifact cannot be read");
            Problem::new(Code::Unavailable, "the artifact store does not answer at the moment; try again").into()
        }
        ArtifactError::Damaged(_) => Problem::internal(&error).into(),
    })?;
    // A name holds letters, digits, dots, underscores and hyphens only, so it needs no quoting.
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).ok();
    let mut response = Body::from_stream(ReaderStream::new(reader.bytes)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(&name)));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(reader.size));
    // The link is a secret for as long as it works.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    if let Some(disposition) = disposition {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

fn media_type(name: &str) -> &'static str {
    if name.ends_with(".gz") { "application/gzip" } else { "application/octet-stream" }
}
