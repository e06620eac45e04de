//! `commands_per_s_{postgres,kafka}`: annotation commands that a server accepts each second.
//!
//! 64 clients, each on a connection of its own that stays open, rate and comment on traces of one owner as fast as they are
//! answered. Only answers of 201 count: each is durable, judged and sealed. The load generator runs on the same cores; the note
//! says what it took of one.

use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::load::{Closed, Until, closed};
use crate::server::Server;
use std::time::Duration;

/// Clients at once.
pub(super) const CLIENTS: usize = 64;

static POSTGRES: [Kind; 1] =
    [Kind { name: "commands_per_s_postgres", unit: "commands/s", better: Better::Higher, target: Some(5000.0) }];
static KAFKA: [Kind; 1] =
    [Kind { name: "commands_per_s_kafka", unit: "commands/s", better: Better::Higher, target: Some(5000.0) }];

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
    let loaded = measure(bench, &server, &traces, bench.options.load_time()).await?;
    server.stop()?;
    bench.rates.insert(log, loaded.rate());
    let note = format!(
        "{CLIENTS} clients, {} s; {} not accepted; the load itself took {:.0} % of a core",
        loaded.elapsed.as_secs(),
        loaded.other,
        loaded.own_share * 100.0
    );
    Ok(vec![kinds(log)[0].is(loaded.rate(), note)])
}

/// Warms up, then loads for this time.
pub(super) async fn measure(
    bench: &Bench,
    server: &Server,
    traces: &[String],
    time: Duration,
) -> anyhow::Result<Closed> {
    let warm_up = bench.full_or_quick(Duration::from_secs(5), Duration::from_millis(500));
    closed(&server.access, traces, CLIENTS, Until::Time(warm_up)).await?;
    closed(&server.access, traces, CLIENTS, Until::Time(time)).await
}
