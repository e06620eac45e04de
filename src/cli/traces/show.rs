//! `stash traces show`

use crate::cli::Remote;
use crate::cli::remote::{items, number, text, trace_segment};
use crate::output::{self, Table, local, shorten};
use serde_json::Value;

/// Characters of a step's content, without `--full`.
const CONTENT_CHARS: usize = 100;

/// Which trace.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its id, or external:<the id it has where it was recorded>
    trace: String,
    /// Show the steps' whole content
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let trace = client.get(&format!("/traces/{}", trace_segment(&args.trace))).await?;
    if args.remote.json {
        return output::json(&trace);
    }
    output::line(text(&trace, "title"))?;
    output::line(format_args!(
        "{}  {}  imported {}\n",
        text(&trace, "id"),
        text(&trace, "source_format"),
        local(text(&trace, "created_at"))
    ))?;
    for step in items(&trace, "steps") {
        show_step(&trace, step, args.full)?;
    }
    for annotation in items(&trace, "annotations").iter().filter(|one| one.get("step_id").is_none_or(Value::is_null)) {
        output::line(format_args!("  {}", saying(annotation)))?;
    }
    show_scores(&trace)
}

fn show_step(trace: &Value, step: &Value, full: bool) -> anyhow::Result<()> {
    let id = text(step, "id");
    let content = said(step);
    let content = if full { content } else { shorten(&content, CONTENT_CHARS) };
    let credits: Vec<String> = of_step(trace, "action_scores", id)
        .filter_map(|score| score.get("credit").and_then(Value::as_f64))
        .map(|credit| format!("credit {credit:+.2}"))
        .collect();
    let line = format!("{:>4}  {:<9}  {content}  {}", number(step, "index"), text(step, "role"), credits.join("  "));
    output::line(line.trim_end())?;
    for annotation in of_step(trace, "annotations", id) {
        output::line(format_args!("                 {}", saying(annotation)))?;
    }
    Ok(())
}

/// What a step says: its call, its content, or both.
pub(crate) fn said(step: &Value) -> String {
    let content = text(step, "content");
    let tool = text(step, "tool_name");
    if tool.is_empty() || text(step, "role") == "tool" {
        return content.to_owned();
    }
    let input = step.get("tool_input").map(Value::to_string).unwrap_or_default();
    if content.is_empty() { format!("{tool}({input})") } else { format!("{content} {tool}({input})") }
}

fn of_step<'a>(trace: &'a Value, list: &str, id: &'a str) -> impl Iterator<Item = &'a Value> {
    items(trace, list).iter().filter(move |item| text(item, "step_id") == id)
}

/// An annotation on one line.
fn saying(annotation: &Value) -> String {
    let rating = match number(annotation, "rating") {
        1 => "+ ",
        -1 => "- ",
        _ => "",
    };
    let flagged = if annotation.get("label_error") == Some(&Value::Bool(true)) { " (flagged as wrong)" } else { "" };
    let source = annotation.get("source").map(|source| text(source, "name")).unwrap_or_default();
    let source = if source.is_empty() { String::new() } else { format!(" (from {source})") };
    format!("{rating}{}{flagged}{source}", text(annotation, "comment")).trim_end().to_owned()
}

fn show_scores(trace: &Value) -> anyhow::Result<()> {
    let scores = items(trace, "scores");
    if scores.is_empty() {
        return Ok(());
    }
    output::line("")?;
    let mut table = Table::new(&["model", "score", "scored"]);
    for score in scores {
        let value = score.get("score").and_then(Value::as_f64).unwrap_or_default();
        table.row(&[&text(score, "reward_model_name"), &format!("{value:.3}"), &local(text(score, "created_at"))]);
    }
    table.print()
}

/// A table of a trace's actions with the credit that one model gave them.
pub(crate) fn show_actions(trace: &Value, model: &str) -> anyhow::Result<()> {
    let mut table = Table::new(&["step", "credit", "score", "action"]);
    for step in items(trace, "steps") {
        let mut scores = of_step(trace, "action_scores", text(step, "id"));
        let Some(score) = scores.find(|score| text(score, "reward_model_id") == model) else { continue };
        let value = |name: &str| score.get(name).and_then(Value::as_f64).unwrap_or_default();
        let credit = format!("{:+.2}", value("credit"));
        let raw = format!("{:.3}", value("score"));
        table.row(&[&number(step, "index"), &credit, &raw, &shorten(&said(step), CONTENT_CHARS)]);
    }
    table.print()
}
