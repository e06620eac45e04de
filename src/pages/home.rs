//! `/`

use axum::http::header;
use axum::response::IntoResponse;

const TEXT: &str = "\
Stash: learn from your agents' traces.

  /api/v1/openapi.json   the API's description
  /api/v1/rm/...         the API; send an API key: Authorization: Bearer <key>
  /healthz, /readyz      whether the process lives, and whether it can work
  /metrics               figures for Prometheus

On the server's machine, `stash traces list` shows what is there, `stash import FILE` adds to it, `stash doctor` says
what is missing, and `stash keys create` makes an API key.
";

/// Says where things are.
pub(super) async fn show() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], TEXT)
}
