//! `stash projections status`

use crate::cli::Local;
use crate::output::{self, Table};
use serde_json::json;
use stash_domain::position::Partition;
use stash_projections::schema;

/// Where.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let status = args.local.with(async |foundation| {
        let pool = &foundation.pools.system;
        let generation = schema::current(&mut *pool.acquire().await?).await?;
        let dead: i64 = sqlx::query_scalar(include_str!("count_dead_letters.sql")).fetch_one(pool).await?;
        foundation.marks.refresh(pool).await?;
        let mut partitions = Vec::new();
        for number in 0..foundation.log.partitions() {
            let partition = Partition(number);
            partitions.push((number, foundation.marks.of(partition).0, foundation.log.tail(partition).await?.0));
        }
        Ok((generation.unwrap_or_default(), dead, partitions))
    });
    let (generation, dead, partitions) = status.await?;
    let lag: u64 = partitions.iter().map(|(_, next, tail)| tail.saturating_sub(*next)).sum();
    if args.local.json {
        let partitions: Vec<_> = partitions
            .iter()
            .map(|(number, next, tail)| json!({ "partition": number, "next": next, "tail": tail }))
            .collect();
        return output::json(
            &json!({ "schema": generation, "lag": lag, "dead_letters": dead, "partitions": partitions }),
        );
    }
    output::line(format_args!("schema        {generation}"))?;
    output::line(format_args!("lag           {lag} records"))?;
    output::line(format_args!("dead letters  {dead}"))?;
    let busy: Vec<_> = partitions.iter().filter(|(_, _, tail)| *tail > 0).collect();
    if busy.is_empty() {
        return Ok(());
    }
    output::line("")?;
    let mut table = Table::new(&["partition", "next", "tail"]);
    for (number, next, tail) in busy {
        table.row(&[number, next, tail]);
    }
    table.print()
}
