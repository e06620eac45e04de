//! `stash models cancel`

use crate::cli::Remote;
use crate::cli::remote::{encode, text};
use crate::output;

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
    let path = format!("/reward-models/{}/cancel", encode(&args.model));
    let model = client.post(&path, &serde_json::json!({})).await?;
    if args.remote.json {
        return output::json(&model);
    }
    output::line(format_args!("asked to stop; it is {} now", text(&model, "status")))
}
