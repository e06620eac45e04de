//! `stash models rename`

use crate::cli::Remote;
use crate::cli::remote::{encode, text};
use crate::output;

/// Which model, and its new name.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its id
    model: String,
    /// The new name
    name: String,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let path = format!("/reward-models/{}", encode(&args.model));
    let model = client.patch(&path, &serde_json::json!({ "name": args.name })).await?;
    if args.remote.json {
        return output::json(&model);
    }
    output::line(format_args!("it is called {} now", text(&model, "name")))
}
