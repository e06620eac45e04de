//! `stash serve`

use crate::roles::{self, Role};
use crate::wiring::settings::{Overrides, load};
use std::net::SocketAddr;
use std::path::PathBuf;

/// One process of a deployment. The database is that of DATABASE_URL, else the one of a Stash that runs on the data folder.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What this process does
    #[arg(long, value_enum)]
    role: Role,
    /// Folder with the artifacts and the master keys, the same for all roles [default: STASH_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address to answer on; a role other than `api` answers /healthz, /readyz and /metrics [default: STASH_LISTEN]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let settings = load(Overrides { data: args.data.as_deref(), listen: args.listen })?;
    roles::serve(args.role, settings).await
}
