//! `stash projections rebuild`

use crate::cli::Local;
use crate::output::{self, Table, progress};
use serde_json::json;
use stash_projections::{OnDifference, rebuild};

/// How.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Switch to the rebuilt read models even if they differ from the live ones, after a change of how they are made
    #[arg(long)]
    switch_anyway: bool,
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let on_difference = if args.switch_anyway { OnDifference::Switch } else { OnDifference::Keep };
    let rebuilt = args.local.with(async |foundation| {
        let bar = progress::count("records applied", 0);
        let pool = foundation.projector_pool();
        let mut told = |records: u64, total: u64| {
            bar.set_length(total);
            bar.set_position(records);
        };
        let rebuilt = rebuild(&pool, &foundation.log, &foundation.deps(), on_difference, &mut told).await;
        bar.finish_and_clear();
        pool.close().await;
        Ok(rebuilt?)
    });
    let rebuilt = rebuilt.await?;
    if args.local.json {
        let tables: Vec<_> = rebuilt
            .digests
            .iter()
            .map(|digest| json!({ "table": digest.table, "rows": digest.rows, "digest": digest.sum }))
            .collect();
        return output::json(&json!({
            "schema": rebuilt.schema,
            "records": rebuilt.records,
            "different": rebuilt.different,
            "tables": tables,
        }));
    }
    let mut table = Table::new(&["table", "rows", "digest"]);
    for digest in &rebuilt.digests {
        let differs = if rebuilt.different.contains(&digest.table) { " (differs from before)" } else { "" };
        table.row(&[&digest.table, &digest.rows, &format!("{}{differs}", digest.sum)]);
    }
    table.print()?;
    output::line(format_args!(
        "{} records applied; the read models are those of {} now",
        rebuilt.records, rebuilt.schema
    ))
}
