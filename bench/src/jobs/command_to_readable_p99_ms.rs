//! `command_to_readable_p99_ms_{postgres,kafka}`: how soon one can read what one wrote, at half the load that the server takes.
//!
//! Commands come at fixed moments, however long the server takes, and each is followed by a read of its annotation with the
//! position that the command was answered with. The time runs from the command's moment to the first successful read.

use super::commands_per_s;
use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::load::paced;
use crate::statistics::{number, percentile};
use anyhow::ensure;

/// Share of the highest rate at which it is measured.
const LOAD_SHARE: f64 = 0.5;

static POSTGRES: [Kind; 1] =
    [Kind { name: "command_to_readable_p99_ms_postgres", unit: "ms", better: Better::Lower, target: Some(250.0) }];
static KAFKA: [Kind; 1] =
    [Kind { name: "command_to_readable_p99_ms_kafka", unit: "ms", better: Better::Lower, target: Some(250.0) }];

/// The figure of a log.
pub(super) fn kinds(log: Log) -> &'static [Kind] {
    match log {
        Log::Postgres => &POSTGRES,
        Log::Kafka => &KAFKA,
    }
}

/// Measures.
pub(super) async fn run(bench: &mut Bench, log: Log) -> anyhow::Result<Vec<Measured>> {
    let (_, server, traces) = bench.annotated_server(log).await?;
    let time = bench.options.load_time() / 2;
    let highest = match bench.rates.get(&log) {
        Some(rate) => *rate,
        // Measured by itself: find the rate first, in a quarter of the time.
        None => commands_per_s::measure(bench, &server, &traces, time / 2).await?.rate(),
    };
    let rate = highest * LOAD_SHARE;
    let warm_up = paced(&server.access, &traces, rate, time / 10).await?;
    ensure!(warm_up.failed == 0, "{} commands failed while warming up", warm_up.failed);
    let mut found = paced(&server.access, &traces, rate, time).await?;
    server.stop()?;
    ensure!(found.failed == 0, "{} of {} commands failed", found.failed, found.latencies_ms.len());
    let p99 = percentile(&mut found.latencies_ms, 0.99);
    let note = format!(
        "{} commands at {rate:.0}/s; p50 {}, p90 {}, highest {} ms; the load itself took {:.0} % of a core",
        found.latencies_ms.len(),
        number(percentile(&mut found.latencies_ms, 0.5)),
        number(percentile(&mut found.latencies_ms, 0.9)),
        number(percentile(&mut found.latencies_ms, 1.0)),
        found.own_share * 100.0
    );
    Ok(vec![kinds(log)[0].is(p99, note)])
}
