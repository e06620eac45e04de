//! `stash export traces`

use super::write::To;

/// Where to.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    to: To,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    args.to.write("/export/traces").await
}
