//! `stash log info`

use crate::cli::Local;
use crate::output;
use serde_json::json;
use stash_domain::position::Partition;
use stash_infra::config::LogBackend;

/// Where.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let info = args.local.with(async |foundation| {
        let mut tails = Vec::new();
        for number in 0..foundation.log.partitions() {
            tails.push(foundation.log.tail(Partition(number)).await?.0);
        }
        let backend = match foundation.settings.log.backend {
            LogBackend::Postgres => "postgres",
            LogBackend::Kafka => "kafka",
        };
        Ok((backend, foundation.log.id(), tails))
    });
    let (backend, id, tails) = info.await?;
    let records: u64 = tails.iter().sum();
    if args.local.json {
        return output::json(&json!({ "backend": backend, "id": id, "records": records, "partitions": tails }));
    }
    output::line(format_args!("log         {} ({backend})", id.0))?;
    output::line(format_args!("partitions  {}", tails.len()))?;
    output::line(format_args!("records     {records}"))
}
