//! `stash keys rotate-master`

use crate::cli::Local;
use crate::output::{self, progress};
use serde_json::json;

/// Where.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let rotation = args.local.with(async |foundation| {
        let bar = progress::count("keys rewrapped", 0);
        let rotation = foundation.keys.rotate(|rows| {
            bar.set_length(rows);
            bar.set_position(rows);
        });
        let rotation = rotation.await;
        bar.finish_and_clear();
        Ok(rotation?)
    });
    let rotation = rotation.await?;
    let removed: Vec<String> = rotation.removed.iter().map(|id| id.0.to_string()).collect();
    if args.local.json {
        return output::json(&json!({
            "current": rotation.current.0,
            "resumed": rotation.resumed,
            "rewrapped": rotation.rewrapped,
            "removed": removed,
        }));
    }
    output::line(format_args!("the master key is {} now; {} keys rewrapped", rotation.current.0, rotation.rewrapped))?;
    output::note("Back up the master key file again: a copy from before does not open what is wrapped now");
    Ok(())
}
