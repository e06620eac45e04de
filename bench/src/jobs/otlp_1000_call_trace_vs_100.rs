//! `otlp_1000_call_trace_vs_100`: what a span costs in a trace of 1,000 calls, as a multiple of what it costs in one of 100.
//!
//! Spans are of one size, since each call repeats the newest messages only. One sender sends batches of 50, each after the last can
//! be read, so that the trace grows batch by batch. As many spans are sent of either kind, in turns.

use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::http::Connection;
use crate::load::read_at;
use crate::spans::{Calls, History, external_id, steps_of};
use crate::statistics::{median, spread};
use anyhow::ensure;
use serde::Deserialize;
use std::time::Instant;

pub(super) static KINDS: [Kind; 1] =
    [Kind { name: "otlp_1000_call_trace_vs_100", unit: "ratio", better: Better::Lower, target: Some(1.5) }];

const LONG: u64 = 1_000;
const SHORT: u64 = 100;
const BATCH: u64 = 50;

#[derive(Deserialize)]
struct Trace {
    steps: Vec<serde::de::IgnoredAny>,
}

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    let server = bench.place(Log::Postgres)?.start().await?;
    let calls = Calls::new(LONG, History::Newest);
    let mut connection = Connection::open(&server.access).await?;
    let mut next = 0;
    let mut ratios = Vec::new();
    for _ in 0..bench.full_or_quick(5, 1) {
        let long = seconds(&mut connection, &calls, next, 1, LONG).await?;
        let short = seconds(&mut connection, &calls, next + 1, LONG / SHORT, SHORT).await?;
        next += 1 + LONG / SHORT;
        ratios.push(long / short);
    }
    server.stop()?;
    Ok(vec![KINDS[0].is(median(&ratios), spread(&ratios))])
}

/// Sends so many traces of so many calls, one after the other.
async fn seconds(
    connection: &mut Connection,
    calls: &Calls,
    first: u64,
    traces: u64,
    length: u64,
) -> anyhow::Result<f64> {
    let begin = Instant::now();
    for trace in first..first + traces {
        for batch in 0..length / BATCH {
            let body = calls.request((batch * BATCH..(batch + 1) * BATCH).map(|number| (trace, number)));
            let answer = connection.post_as("/otel/v1/traces", "application/x-protobuf", &body).await?;
            answer.expect(200)?;
            ensure!(read_at(connection, "/formats", answer.position.as_deref()).await?, "spans cannot be read");
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let path = format!("/traces/external:{}", external_id(first));
    let read: Trace = connection.get(&path, None).await?.json(200)?;
    ensure!(read.steps.len() as u64 == steps_of(length), "{} steps of {length} calls", read.steps.len());
    Ok(seconds)
}
