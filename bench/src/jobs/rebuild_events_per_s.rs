//! `rebuild_events_per_s`: annotation events that `stash projections rebuild` applies each second, digests and switch included.
//!
//! The server runs beside it, idle, as it would. What a program takes to open the same folder and close it again
//! (`stash projections status` does just that) is subtracted.

use super::commands_per_s::CLIENTS;
use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::load::{Until, closed};
use crate::server::Place;
use crate::statistics::{median, spread};
use anyhow::{Context as _, ensure};
use serde::Deserialize;
use std::time::Instant;

pub(super) static KINDS: [Kind; 1] =
    [Kind { name: "rebuild_events_per_s", unit: "events/s", better: Better::Higher, target: Some(30_000.0) }];

#[derive(Deserialize)]
struct Rebuilt {
    records: u64,
}

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    let events = bench.full_or_quick(100_000, 2_000);
    let (place, server, traces) = bench.annotated_server(Log::Postgres).await?;
    let filled = closed(&server.access, &traces, CLIENTS, Until::Count(events)).await?;
    ensure!(filled.other == 0, "{} commands were not accepted", filled.other);
    let (opening, _) = timed(&place, &["projections", "status", "--json"])?;
    let mut rates = Vec::new();
    for _ in 0..bench.full_or_quick(5, 1) {
        let (seconds, output) = timed(&place, &["projections", "rebuild", "--json"])?;
        let rebuilt: Rebuilt =
            serde_json::from_slice(&output).context("stash projections rebuild printed something else")?;
        ensure!(rebuilt.records >= events, "{} records were applied, {events} are there", rebuilt.records);
        rates.push(rebuilt.records as f64 / (seconds - opening).max(f64::MIN_POSITIVE));
    }
    server.stop()?;
    let note = format!("{events} events; {}; {opening:.2} s of opening subtracted", spread(&rates));
    Ok(vec![KINDS[0].is(median(&rates), note)])
}

fn timed(place: &Place, arguments: &[&str]) -> anyhow::Result<(f64, Vec<u8>)> {
    let begin = Instant::now();
    let output = place.output(arguments)?;
    Ok((begin.elapsed().as_secs_f64(), output))
}
