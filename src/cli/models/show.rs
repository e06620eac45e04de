//! `stash models show`

use crate::cli::Remote;
use crate::cli::remote::{encode, items, number, text};
use crate::output::{self, local};
use serde_json::Value;

/// Which model.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its id
    model: String,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let model = client.get(&format!("/reward-models/{}", encode(&args.model))).await?;
    if args.remote.json {
        return output::json(&model);
    }
    let mut lines = vec![
        ("name", text(&model, "name").to_owned()),
        ("status", status(&model)),
        ("base", text(&model, "base_model").to_owned()),
        ("traces", items(&model, "trace_ids").len().to_string()),
        ("epochs", number(&model, "epochs").to_string()),
        ("asked for", local(text(&model, "created_at"))),
        ("ended", local(text(&model, "finished_at"))),
        ("loss", losses(&model)),
        ("pairs' SHA-256", text(&model, "dataset_digest").to_owned()),
        ("base's SHA-256", text(&model, "base_checksum").to_owned()),
        ("trainer", text(&model, "code_version").to_owned()),
    ];
    if let Some(Value::Object(choices)) = model.get("training") {
        let chosen = choices.iter().filter(|(_, value)| !value.is_null());
        lines.extend(chosen.map(|(name, value)| (name.as_str(), figure(value))));
    }
    if let Some(Value::Object(metrics)) = model.get("metrics") {
        lines.extend(
            metrics.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.as_str(), figure(value))),
        );
    }
    for (name, value) in lines.into_iter().filter(|(_, value)| !value.is_empty()) {
        output::line(format_args!("{name:<28}{value}"))?;
    }
    Ok(())
}

/// The first and the last point of the training's curve.
fn losses(model: &Value) -> String {
    let points = model.pointer("/curve/points").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let loss = |point: &Value| point.get("loss").and_then(Value::as_f64).unwrap_or_default();
    let ends = points.first().zip(points.last());
    ends.map(|(first, last)| format!("{:.4} to {:.4}", loss(first), loss(last))).unwrap_or_default()
}

fn status(model: &Value) -> String {
    let (status, error, phase) = (text(model, "status"), text(model, "error"), text(model, "phase"));
    match status {
        "failed" => format!("failed: {error}"),
        "running" => {
            let share = model.get("progress").and_then(Value::as_f64).unwrap_or_default() * 100.0;
            format!("running: {phase} {share:.0} %")
        }
        _ => status.to_owned(),
    }
}

/// A figure with as many digits as tell something.
fn figure(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map(|number| format!("{number:.4}")).unwrap_or_default()
        }
        Value::Array(numbers) => numbers.iter().map(figure).collect::<Vec<_>>().join(" to "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
