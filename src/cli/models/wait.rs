//! Waiting for a training or a scoring to end.

use crate::cli::remote::text;
use crate::client::Client;
use crate::output::progress;
use anyhow::bail;
use indicatif::HumanDuration;
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
        progress::set_share(&bar, done, &doing(&state));
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

/// What a job is doing; of a training's steps also how many are done, their loss, and about how long the others take.
fn doing(state: &Value) -> String {
    let (status, phase) = (text(state, "status"), text(state, "phase"));
    let curve = state.get("curve").filter(|curve| phase == "training" && curve.is_object());
    let Some(curve) = curve else { return if phase.is_empty() { status } else { phase }.to_owned() };
    let number = |name: &str| curve.get(name).and_then(Value::as_f64).unwrap_or_default();
    let loss = last_loss(curve).map(|loss| format!(", loss {loss:.3}")).unwrap_or_default();
    let left = Duration::try_from_secs_f64(number("eta_s")).unwrap_or_default();
    format!("step {} of {}{loss}, {} left", number("step"), number("steps"), HumanDuration(left))
}

/// Mean loss at the end of a curve.
fn last_loss(curve: &Value) -> Option<f64> {
    curve.get("points")?.as_array()?.last()?.get("loss")?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn steps_and_time_left_are_shown_while_a_model_is_trained() {
        let mut state = json!({"status": "running", "phase": "training", "curve": {
            "step": 3, "steps": 12, "eta_s": 90.4, "points": [{"step": 3, "loss": 0.61234, "learning_rate": 1e-5}]}});
        assert_eq!(doing(&state), "step 3 of 12, loss 0.612, 2 minutes left");
        state["phase"] = json!("scoring");
        assert_eq!(doing(&state), "scoring");
        assert_eq!(doing(&json!({"status": "queued", "phase": null, "curve": null})), "queued");
    }
}
