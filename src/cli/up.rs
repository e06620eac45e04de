//! `stash up`

use crate::roles;
use crate::wiring::settings::{Overrides, load};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Everything else is set by environment variables: see docs/settings.md.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder that everything is kept in; made if it is not there [default: STASH_DATA, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address to answer on; port 0 takes a free one [default: STASH_LISTEN, else 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// At the first start, do not import and train on the sample traces
    #[arg(long)]
    no_sample: bool,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let settings = load(Overrides { data: args.data.as_deref(), listen: args.listen })?;
    roles::up::run(settings, !args.no_sample).await
}
