//! `stash annotate`

use super::Remote;
use super::remote::{items, number, text, trace_segment};
use crate::client::Client;
use crate::output;
use anyhow::bail;
use serde_json::{Value, json};
use uuid::Uuid;

/// What to say about what.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("said").required(true).multiple(true).args(["rating", "comment"])))]
pub(crate) struct Args {
    /// The trace's id, or external:<id>
    trace: String,
    /// The step: its number, as `stash traces show` prints it, or its id; without it, the whole trace
    #[arg(long)]
    step: Option<String>,
    /// + for good, - for bad
    #[arg(long, value_parser = ["+", "-"], allow_hyphen_values = true)]
    rating: Option<String>,
    /// Words
    #[arg(long)]
    comment: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let trace = trace_segment(&args.trace);
    let step = match &args.step {
        None => None,
        Some(step) => Some(step_id(&client, &trace, step).await?),
    };
    let rating = args.rating.as_deref().map(|rating| if rating == "+" { 1 } else { -1 });
    let body = json!({ "step_id": step, "rating": rating, "comment": args.comment });
    let annotation = client.post(&format!("/traces/{trace}/annotations"), &body).await?;
    if args.remote.json {
        return output::json(&annotation);
    }
    output::line(format_args!("annotated: {}", text(&annotation, "id")))
}

async fn step_id(client: &Client, trace: &str, step: &str) -> anyhow::Result<String> {
    if Uuid::parse_str(step).is_ok() {
        return Ok(step.to_owned());
    }
    let Ok(index) = step.parse::<i64>() else { bail!("--step {step:?} is neither a step's number nor its id") };
    let detail = client.get(&format!("/traces/{trace}")).await?;
    let found: Option<&Value> = items(&detail, "steps").iter().find(|one| number(one, "index") == index);
    match found {
        Some(step) => Ok(text(step, "id").to_owned()),
        None => bail!("the trace has no step {index}; it has {}", number(&detail, "step_count")),
    }
}
