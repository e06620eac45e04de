//! Waiting for a training or a scoring to end.

use crate::cli::remote::text;
use crate::client::Client;
use crate::output::progress;
use anyhow::bail;
use serde_json::Value;
use std::time::Duration;

/// How often to ask.
const LOOK: Duration = Duration::from_millis(500);

/// Asks until the job at this path has ended, and shows how far it is. Returns its last state.
///
/// A job is bounded by its worker, and its attempts by the server; so the wait has no end of its own.
pub(crate) async fn wait(client: &Client, path: &str, name: &str) -> anyhow::Result<Value> {
    let bar = progress::share(name);
    loop {
        let state = client.get(path).await?;
        let done = state.get("progress").and_then(Value::as_f64).unwrap_or_default();
        let status = text(&state, "status");
        let phase = text(&state, "phase");
        progress::set_share(&bar, done, if phase.is_empty() { status } else { phase });
        match status {
            "succeeded" => {
                bar.finish_and_clear();
                return Ok(state);
            }
            "failed" => {
                bar.finish_and_clear();
                bail!("{name} failed: {}", text(&state, "error"));
            }
            _ => tokio::time::sleep(LOOK).await,
        }
    }
}
