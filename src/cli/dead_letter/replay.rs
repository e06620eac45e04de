//! `stash dead-letter replay`

use crate::cli::Local;
use crate::output;
use serde_json::json;

/// Where.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let replayed = args.local.with(async |foundation| {
        let pool = foundation.projector_pool();
        let replayed = stash_projections::replay(&pool, &foundation.log, &foundation.deps()).await;
        pool.close().await;
        Ok(replayed?)
    });
    let replayed = replayed.await?;
    if args.local.json {
        return output::json(&json!({
            "applied": replayed.applied,
            "waiting": replayed.waiting,
            "unjudged": replayed.unjudged,
        }));
    }
    output::line(format_args!("{} applied, {} still wait", replayed.applied, replayed.waiting))?;
    if replayed.unjudged > 0 {
        output::note(format_args!(
            "{} were never judged; if this version can read them, `stash projections rebuild` applies them",
            replayed.unjudged
        ));
    }
    Ok(())
}
