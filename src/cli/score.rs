//! `stash score`

use super::Remote;
use super::models::wait;
use super::remote::{text, trace_segment};
use super::traces::show_actions;
use crate::output;
use serde_json::json;

/// Which trace with which model.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The trace's id, or external:<id>
    trace: String,
    /// The trained model's id
    #[arg(long)]
    model: String,
    /// Stay until it is scored, and show the actions
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let trace = trace_segment(&args.trace);
    let mut run = client.post(&format!("/traces/{trace}/score"), &json!({ "reward_model_id": args.model })).await?;
    if args.wait {
        run = wait(&client, &format!("/scoring-runs/{}", text(&run, "id")), "scoring").await?;
    }
    if args.remote.json {
        return output::json(&run);
    }
    if !args.wait {
        return output::line(format_args!("{}  {}", text(&run, "id"), text(&run, "status")));
    }
    show_actions(&client.get(&format!("/traces/{trace}")).await?, &args.model)
}
