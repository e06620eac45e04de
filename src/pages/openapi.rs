//! The API's description, made from the code of both routers, and the copy of it in `schemas/openapi.json`.

use axum::http::header;
use axum::response::IntoResponse;
use stash_infra::http::health::{CheckResult, Readiness};
use std::sync::OnceLock;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder};

/// Name of the one security scheme.
const API_KEY: &str = "api_key";

/// What every process answers, whatever its role.
#[derive(OpenApi)]
#[openapi(paths(healthz, readyz), components(schemas(CheckResult, Readiness)))]
struct Common;

/// The process lives
#[utoipa::path(get, path = "/healthz", tag = "server", security(()),
    responses((status = 200, description = "It does", content_type = "application/json", body = Object)))]
#[allow(dead_code, reason = "only described here")]
fn healthz() {}

/// The process can work
#[utoipa::path(get, path = "/readyz", tag = "server", security(()),
    responses((status = 200, description = "It can", body = Readiness),
        (status = 503, description = "Something that it needs does not answer", body = Readiness)))]
#[allow(dead_code, reason = "only described here")]
fn readyz() {}

/// The whole description.
pub(crate) fn description() -> utoipa::openapi::OpenApi {
    let mut api = stash_query_api::openapi();
    api.merge(stash_command_api::openapi());
    api.merge(Common::openapi());
    api.info = InfoBuilder::new()
        .title("Stash")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Learn from your agents' traces: import, annotate, train a reward model, see every action's credit.\n\n\
             Every command answers with `X-Stash-Position`; a read that sends it back as `X-Stash-Min-Position` sees at least \
             that command. A repeat of a command with the same `Idempotency-Key` changes nothing and is answered alike. Errors \
             are `application/problem+json` (RFC 9457).",
        ))
        .build();
    let scheme = SecurityScheme::Http(
        Http::builder()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("An API key, as `stash keys create` makes it"))
            .build(),
    );
    let mut components = api.components.take().unwrap_or_else(|| ComponentsBuilder::new().build());
    components.add_security_scheme(API_KEY, scheme);
    api.components = Some(components);
    api.security = Some(vec![SecurityRequirement::new(API_KEY, Vec::<String>::new())]);
    api.servers = None;
    api
}

/// The description as it stands in `schemas/openapi.json`.
pub(crate) fn text() -> anyhow::Result<String> {
    Ok(description().to_pretty_json()? + "\n")
}

/// `/api/v1/openapi.json`
pub(super) async fn show() -> impl IntoResponse {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| description().to_json().unwrap_or_default());
    ([(header::CONTENT_TYPE, "application/json")], text.as_str())
}
