//! `stash dead-letter list`

use crate::cli::Local;
use crate::output::{self, Table};
use serde_json::json;
use stash_domain::position::{Offset, Partition, Position, PositionToken};
use uuid::Uuid;

/// A row.
type Row = (i32, i64, Option<Uuid>, Vec<String>, String);

/// How many.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let found = args.local.with(async |foundation| {
        let rows: Vec<Row> = sqlx::query_as(include_str!("list.sql"))
            .bind(i64::from(args.limit))
            .fetch_all(&foundation.pools.system)
            .await?;
        Ok((foundation.log.id(), rows))
    });
    let (log, rows) = found.await?;
    let position = |partition: i32, offset: i64| {
        let partition = Partition(u16::try_from(partition).unwrap_or_default());
        PositionToken::new(log, Position { partition, offset: Offset(offset.cast_unsigned()) }).to_string()
    };
    if args.local.json {
        let all: Vec<_> = rows
            .iter()
            .map(|(partition, offset, owner, streams, code)| {
                json!({ "position": position(*partition, *offset), "owner_id": owner, "streams": streams, "code": code })
            })
            .collect();
        return output::json(&all);
    }
    if rows.is_empty() {
        return output::line("No dead letters: every record of the log was applied.");
    }
    let mut table = Table::new(&["position", "code", "streams"]);
    for (partition, offset, _, streams, code) in &rows {
        table.row(&[&position(*partition, *offset), code, &streams.join(" ")]);
    }
    table.print()
}
