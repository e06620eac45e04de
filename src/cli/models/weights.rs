//! `stash models weights`

use crate::cli::Remote;
use crate::cli::remote::{encode, text};
use crate::output::{self, progress};
use anyhow::Context as _;
use std::path::PathBuf;

/// Which model, and where to.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its id
    model: String,
    /// File to write the checkpoint (tar.gz, Hugging Face layout) to; without it, the link is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let weights = client.get(&format!("/reward-models/{}/weights", encode(&args.model))).await?;
    let link = text(&weights, "url").to_owned();
    let Some(path) = args.output else {
        let link = if link.starts_with('/') { format!("{}{link}", client.url()) } else { link };
        return if args.remote.json { output::json(&serde_json::json!({ "url": link })) } else { output::line(link) };
    };
    let mut file =
        tokio::fs::File::create(&path).await.with_context(|| format!("{} cannot be written", path.display()))?;
    let bar = progress::bytes("weights", 0);
    let bytes = client.download_link(&link, &mut file, &bar).await;
    bar.finish_and_clear();
    let bytes = bytes?;
    if args.remote.json {
        return output::json(&serde_json::json!({ "file": path, "bytes": bytes }));
    }
    output::line(format_args!("{}: {bytes} bytes", path.display()))
}
