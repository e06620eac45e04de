//! `stash models delete`

use crate::cli::Remote;
use crate::cli::remote::encode;
use crate::output;
use anyhow::Context as _;

/// Which models.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Their ids
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<String>,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    for model in &args.models {
        client.delete(&format!("/reward-models/{}", encode(model))).await.with_context(|| model.clone())?;
        if !args.remote.json {
            output::line(format_args!("deleted {model}"))?;
        }
    }
    if args.remote.json { output::json(&serde_json::json!({ "deleted": args.models })) } else { Ok(()) }
}
