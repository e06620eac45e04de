//! `stash log tail`

use crate::cli::Local;
use crate::output::{self, Table, local};
use serde_json::{Value, json};
use stash_domain::position::{Offset, Partition, PositionToken};
use stash_infra::event_log::{EventLog, LogRecord};
use std::time::Duration;

/// Records that one call shows.
const RECORDS_MAX: u16 = 1000;

/// How long a read of records that exist may take.
const READ_WAIT: Duration = Duration::from_secs(10);

/// How many.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many records
    #[arg(short = 'n', long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=i64::from(RECORDS_MAX)))]
    records: u16,
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let records = args.local.with(async |foundation| {
        let log = foundation.log.as_ref();
        let mut latest = Vec::new();
        for number in 0..log.partitions() {
            latest.extend(latest_of(log, Partition(number), args.records).await?);
        }
        // Only the log's time orders records of several partitions.
        latest.sort_by_key(|record| (record.time, record.position.partition.0, record.position.offset));
        let shown = latest.split_off(latest.len().saturating_sub(usize::from(args.records)));
        Ok((log.id(), shown))
    });
    let (id, records) = records.await?;
    let shown: Vec<Value> =
        records.iter().map(|record| describe(record, PositionToken::new(id, record.position))).collect();
    if args.local.json {
        return output::json(&shown);
    }
    if shown.is_empty() {
        return output::line("The log is empty.");
    }
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut table = Table::new(&["position", "time", "owner", "events"]);
    for record in &shown {
        table.row(&[
            &text(record, "position"),
            &local(&text(record, "time")),
            &text(record, "owner_id"),
            &text(record, "events"),
        ]);
    }
    table.print()
}

/// The last records of a partition, at most this many.
async fn latest_of(log: &dyn EventLog, partition: Partition, most: u16) -> anyhow::Result<Vec<LogRecord>> {
    let tail = log.tail(partition).await?;
    let from = Offset(tail.0.saturating_sub(u64::from(most)));
    let mut records = Vec::new();
    if from >= tail {
        return Ok(records);
    }
    let mut reader = log.read(&[(partition, from)]).await?;
    while records.last().is_none_or(|last: &LogRecord| last.position.offset.next() < tail) {
        let more = reader.next(usize::from(most), READ_WAIT).await?;
        if more.is_empty() {
            anyhow::bail!("the log gives no more records of partition {}, though it has them", partition.0);
        }
        records.extend(more.into_iter().filter(|record| record.position.offset < tail));
    }
    Ok(records)
}

/// What may be shown of a record: nothing that a person wrote.
fn describe(record: &LogRecord, position: PositionToken) -> Value {
    let time = record.time.to_rfc3339();
    match stash_schemas::decode_record(&record.value) {
        Ok(decoded) => {
            let events: Vec<&str> = decoded.events().map(|(_, event)| event.name()).collect();
            json!({
                "position": position.to_string(),
                "time": time,
                "command_id": decoded.command_id,
                "owner_id": decoded.owner_id,
                "events": events.join(", "),
            })
        }
        Err(error) => json!({
            "position": position.to_string(),
            "time": time,
            "events": format!("cannot be read: {error}"),
        }),
    }
}
