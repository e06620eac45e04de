//! `otlp_acked_spans_per_s`, `otlp_readable_spans_per_s`, `otlp_peak_mb`: spans that are sent live.
//!
//! Four senders, each on a connection that stays open, send batches of 50 spans (protobuf, five traces of ten calls that repeat their
//! whole history) as fast as they are answered. Acknowledged counts to the last answer; readable to when a read at the position of
//! each sender's last answer succeeds, after which some of the traces are read whole. The memory is the highest sum of the server's
//! and Postgres's proportional sizes, looked at four times a second.

use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::http::{Access, Connection};
use crate::load::read_at;
use crate::memory;
use crate::server::{Place, Server};
use crate::spans::{Calls, History, external_id, steps_of};
use anyhow::ensure;
use serde::Deserialize;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task::{JoinSet, LocalSet};

pub(super) static KINDS: [Kind; 3] = [
    Kind { name: "otlp_acked_spans_per_s", unit: "spans/s", better: Better::Higher, target: Some(20_000.0) },
    Kind { name: "otlp_readable_spans_per_s", unit: "spans/s", better: Better::Higher, target: Some(10_000.0) },
    Kind { name: "otlp_peak_mb", unit: "MB", better: Better::Lower, target: Some(300.0) },
];

const SENDERS: usize = 4;
const CALLS: u64 = 10;
const BATCH: u64 = 50;

/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Traces read whole at the end.
const READ: u64 = 40;

#[derive(Deserialize)]
struct Trace {
    steps: Vec<serde::de::IgnoredAny>,
    spans: Vec<serde::de::IgnoredAny>,
}

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    let place = bench.place(Log::Postgres)?;
    let server = place.start().await?;
    let batches = bench.full_or_quick(4_000, 40);
    let local = LocalSet::new();
    let (acked, readable, peak_mb) = local.run_until(load(&place, &server, batches)).await?;
    let traces = batches * BATCH / CALLS;
    check(&server.access, traces).await?;
    server.stop()?;
    let spans = (batches * BATCH) as f64;
    let note = format!("{spans} spans in {:.1} s", acked.as_secs_f64());
    let late = readable.saturating_sub(acked);
    let readable_note = format!("{:.2} s after the last answer", late.as_secs_f64());
    Ok(vec![
        KINDS[0].is(spans / acked.as_secs_f64(), note),
        KINDS[1].is(spans / readable.as_secs_f64(), readable_note),
        KINDS[2].is(peak_mb, "server and Postgres together"),
    ])
}

/// Sends everything; the times to the last answer and to the last read, and the highest memory.
async fn load(place: &Place, server: &Server, batches: u64) -> anyhow::Result<(Duration, Duration, f64)> {
    let calls = Rc::new(Calls::new(CALLS, History::Full));
    let next = Rc::new(Cell::new(0));
    let mut senders = JoinSet::new();
    let begin = Instant::now();
    for _ in 0..SENDERS {
        let (calls, next) = (Rc::clone(&calls), Rc::clone(&next));
        let mut connection = Connection::open(&server.access).await?;
        senders.spawn_local(async move {
            let mut position = None;
            loop {
                let batch: u64 = next.get();
                if batch >= batches {
                    return anyhow::Ok((connection, position));
                }
                next.set(batch + 1);
                let spans = batch * BATCH..(batch + 1) * BATCH;
                let body = calls.request(spans.map(|span| (span / CALLS, span % CALLS)));
                let answer = connection.post_as("/otel/v1/traces", "application/x-protobuf", &body).await?;
                answer.expect(200)?;
                ensure!(answer.body.is_empty(), "spans were not taken");
                position = answer.position;
            }
        });
    }
    let done = Rc::new(Cell::new(false));
    let looking = tokio::task::spawn_local(look(server.pid(), place.clone(), Rc::clone(&done)));
    let mut last = Vec::new();
    while let Some(sender) = senders.join_next().await {
        last.push(sender??);
    }
    let acked = begin.elapsed();
    for (mut connection, position) in last {
        ensure!(read_at(&mut connection, "/traces?limit=1", position.as_deref()).await?, "spans cannot be read");
    }
    let readable = begin.elapsed();
    done.set(true);
    Ok((acked, readable, looking.await??))
}

/// The highest memory until it is done.
async fn look(pid: u32, place: Place, done: Rc<Cell<bool>>) -> anyhow::Result<f64> {
    let mut peak_mb: f64 = 0.0;
    while !done.get() {
        peak_mb = peak_mb.max(memory::proportional_mb(pid, &place.data)?.0);
        tokio::time::sleep(LOOK).await;
    }
    Ok(peak_mb)
}

/// Reads some traces whole.
async fn check(access: &Access, traces: u64) -> anyhow::Result<()> {
    let mut connection = Connection::open(access).await?;
    for number in 0..READ.min(traces) {
        let number = number * traces / READ.min(traces);
        let trace: Trace =
            connection.get(&format!("/traces/external:{}", external_id(number)), None).await?.json(200)?;
        let whole = trace.steps.len() as u64 == steps_of(CALLS) && trace.spans.len() as u64 == CALLS;
        ensure!(whole, "trace {number} is not whole: {} steps", trace.steps.len());
    }
    Ok(())
}
