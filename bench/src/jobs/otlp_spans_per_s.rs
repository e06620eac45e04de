//! `otlp_acked_spans_per_s`, `otlp_readable_spans_per_s`, `otlp_peak_mb`: spans that are sent live.
//!
//! Four senders, each on a connection that stays open, send batches of 50 spans (protobuf, five traces of ten calls that repeat their
//! whole history):
//!
//! 1. As fast as they are answered. Acknowledged counts to the last answer.
//! 2. The same again, while the memory is looked at four times a second, which itself takes some of the processor: the highest sum of the
//!    server's and Postgres's proportional sizes.
//! 3. As fast as spans came to be readable in the first load, then slower and slower, for [`PACED`] each, until a read at the position of
//!    each sender's last answer succeeds within [`LATE_MAX`] of the last answer. That rate is what is readable.
//!
//! Each on a server with nothing in it; after each some of the traces are read whole.
//!
//! Beside it, in the same run: Arize Phoenix on its own SQLite, with less of the same load; readable is when it counts all spans.

use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::http::{Access, Connection};
use crate::load::read_at;
use crate::memory;
use crate::phoenix::Phoenix;
use crate::spans::{Calls, History, external_id, steps_of};
use anyhow::{Context as _, ensure};
use serde::Deserialize;
use std::cell::Cell;
use std::path::{Path, PathBuf};
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

/// How long after the last answer the last span may become readable.
const LATE_MAX: Duration = Duration::from_secs(1);

/// How long a load at a rate lasts.
const PACED: Duration = Duration::from_secs(20);

/// By how much the next rate is slower.
const SLOWER: f64 = 0.95;

/// Rates tried.
const RATES: usize = 12;

/// Media type of the requests.
const PROTOBUF: &str = "application/x-protobuf";

/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Traces read whole at the end.
const READ: u64 = 40;

#[derive(Deserialize)]
struct Trace {
    steps: Vec<serde::de::IgnoredAny>,
    spans: Vec<serde::de::IgnoredAny>,
}

/// Spans sent to the other program: its figures do not change with more, and it takes long.
const PEER_BATCHES: u64 = 200;

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    let free = on_fresh(bench, bench.full_or_quick(4_000, 40), Pace::Free).await?;
    let watched = on_fresh(bench, bench.full_or_quick(2_000, 40), Pace::Watched).await?;
    let (mut rate, mut paced) = (free.readable_rate(), None);
    for _ in 0..RATES {
        let spans = rate * bench.full_or_quick(PACED, Duration::from_millis(500)).as_secs_f64();
        let done = on_fresh(bench, (spans as u64 / BATCH).max(1), Pace::At(rate)).await?;
        eprintln!(
            "at {rate:.0} spans/s the last are readable {:.2} s after the last answer",
            done.late().as_secs_f64()
        );
        if done.late() <= LATE_MAX {
            paced = Some(done);
            break;
        }
        rate *= SLOWER;
    }
    let paced = paced.context("spans are late at every rate that was tried")?;
    let phoenix = match beside(bench).await {
        Ok(measured) => Some(measured),
        Err(error) => {
            eprintln!("nothing to measure beside: {error:#}");
            None
        }
    };
    let said = format!(
        "{:.2} s after the last answer; as fast as they are answered, {:.0} spans/s, {:.2} s after it",
        paced.late().as_secs_f64(),
        free.readable_rate(),
        free.late().as_secs_f64(),
    );
    let figures = vec![
        KINDS[0].is(free.acked_rate(), format!("{:.0} spans in {:.1} s", free.spans, free.acked.as_secs_f64())),
        KINDS[1].is(paced.acked_rate(), said),
        KINDS[2].is(watched.peak_mb, "server and Postgres together, as fast as they are answered"),
    ];
    let Some(theirs) = phoenix else { return Ok(figures) };
    let values = [theirs.acked_rate(), theirs.readable_rate(), theirs.peak_mb];
    let with_peer = figures.into_iter().zip(values);
    Ok(with_peer.map(|(figure, value)| figure.beside("arize-phoenix 20.26.1", value)).collect())
}

/// A load on a server with nothing in it, after which some of the traces are read whole.
async fn on_fresh(bench: &mut Bench, batches: u64, pace: Pace) -> anyhow::Result<Loaded> {
    let place = bench.place(Log::Postgres)?;
    let server = place.start().await?;
    let target = Target { access: &server.access, pid: server.pid(), folder: &place.data, server: Routes::Stash };
    let loaded = load(target, batches, pace).await?;
    check(&server.access, batches * BATCH / CALLS).await?;
    server.stop()?;
    Ok(loaded)
}

/// The same load on Arize Phoenix.
async fn beside(bench: &mut Bench) -> anyhow::Result<Loaded> {
    let batches = bench.full_or_quick(PEER_BATCHES, 40);
    let phoenix = Phoenix::start(&bench.repository, bench.path("phoenix")).await?;
    let (pid, folder) = (phoenix.pid(), phoenix.folder.clone());
    let target = Target { access: &phoenix.access, pid, folder: &folder, server: Routes::Phoenix(&phoenix) };
    load(target, batches, Pace::Watched).await
}

/// How a load comes.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// As fast as it is answered.
    Free,
    /// The same, while the memory is looked at.
    Watched,
    /// At most so many spans a second.
    At(f64),
}

/// What is loaded.
#[derive(Clone, Copy)]
struct Target<'a> {
    access: &'a Access,
    pid: u32,
    folder: &'a Path,
    server: Routes<'a>,
}

/// Whose routes it has.
#[derive(Clone, Copy)]
enum Routes<'a> {
    Stash,
    Phoenix(&'a Phoenix),
}

/// What a load did.
struct Loaded {
    spans: f64,
    acked: Duration,
    readable: Duration,
    peak_mb: f64,
}

impl Loaded {
    fn acked_rate(&self) -> f64 {
        self.spans / self.acked.as_secs_f64()
    }

    /// How long after the last answer everything was readable.
    fn late(&self) -> Duration {
        self.readable.saturating_sub(self.acked)
    }

    fn readable_rate(&self) -> f64 {
        self.spans / self.readable.as_secs_f64()
    }
}

/// Sends these batches; the times to the last answer and to the last read, and the highest memory if it is looked at.
async fn load(target: Target<'_>, batches: u64, pace: Pace) -> anyhow::Result<Loaded> {
    LocalSet::new().run_until(send(target, batches, pace)).await
}

async fn send(target: Target<'_>, batches: u64, pace: Pace) -> anyhow::Result<Loaded> {
    let calls = Rc::new(Calls::new(CALLS, History::Full));
    let next = Rc::new(Cell::new(0));
    let is_stash = matches!(target.server, Routes::Stash);
    let mut senders = JoinSet::new();
    let begin = Instant::now();
    for _ in 0..SENDERS {
        let (calls, next) = (Rc::clone(&calls), Rc::clone(&next));
        let mut connection = Connection::open(target.access).await?;
        senders.spawn_local(async move {
            let mut position = None;
            loop {
                let batch: u64 = next.get();
                if batch >= batches {
                    return anyhow::Ok((connection, position));
                }
                next.set(batch + 1);
                if let Pace::At(rate) = pace {
                    let due = Duration::from_secs_f64((batch * BATCH) as f64 / rate);
                    tokio::time::sleep(due.saturating_sub(begin.elapsed())).await;
                }
                let spans = batch * BATCH..(batch + 1) * BATCH;
                let body = calls.request(spans.map(|span| (span / CALLS, span % CALLS)));
                let answer = match is_stash {
                    true => connection.post_as("/otel/v1/traces", PROTOBUF, &body).await?,
                    false => connection.post_plain("/v1/traces", PROTOBUF, &body).await?,
                };
                answer.expect(200)?;
                ensure!(answer.body.is_empty(), "spans were not taken");
                position = answer.position;
            }
        });
    }
    let done = Rc::new(Cell::new(false));
    let looking = (pace == Pace::Watched)
        .then(|| tokio::task::spawn_local(look(target.pid, target.folder.to_owned(), Rc::clone(&done))));
    let mut last = Vec::new();
    while let Some(sender) = senders.join_next().await {
        last.push(sender??);
    }
    let acked = begin.elapsed();
    let spans = batches * BATCH;
    match target.server {
        Routes::Phoenix(phoenix) => phoenix.shows(spans).await?,
        Routes::Stash => {
            for (mut connection, position) in last {
                let read = read_at(&mut connection, "/traces?limit=1", position.as_deref()).await?;
                ensure!(read, "spans cannot be read");
            }
        }
    }
    let readable = begin.elapsed();
    done.set(true);
    let peak_mb = match looking {
        Some(looking) => looking.await??,
        None => 0.0,
    };
    Ok(Loaded { spans: spans as f64, acked, readable, peak_mb })
}

/// The highest memory until it is done.
async fn look(pid: u32, folder: PathBuf, done: Rc<Cell<bool>>) -> anyhow::Result<f64> {
    let mut peak_mb: f64 = 0.0;
    while !done.get() {
        peak_mb = peak_mb.max(memory::proportional_mb(pid, &folder)?.0);
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
