//! `stash traces formats`

use crate::cli::Remote;
use crate::cli::remote::text;
use crate::output::{self, Table};
use serde_json::Value;

/// Nothing but which server.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let formats = args.remote.client()?.get("/formats").await?;
    if args.remote.json {
        return output::json(&formats);
    }
    let mut table = Table::new(&["format", "what it reads"]);
    for format in formats.as_array().map_or(&[] as &[Value], Vec::as_slice) {
        table.row(&[&text(format, "name"), &text(format, "description")]);
    }
    table.print()
}
