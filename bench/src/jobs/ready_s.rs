//! `ready_s`: seconds from starting `stash up` on a data folder that was used before to the first 200 of `/readyz`.

use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::load::{Until, closed};
use crate::statistics::{median, spread};

pub(super) static KINDS: [Kind; 1] = [Kind { name: "ready_s", unit: "s", better: Better::Lower, target: Some(3.0) }];

/// Clients and annotations that fill the folder first.
const FILL: (usize, u64) = (16, 2_000);

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    let (place, server, traces) = bench.annotated_server(Log::Postgres).await?;
    closed(&server.access, &traces, FILL.0, Until::Count(bench.full_or_quick(FILL.1, 100))).await?;
    server.stop()?;
    let mut seconds = Vec::new();
    for _ in 0..bench.full_or_quick(5, 1) {
        let server = place.start_without_key().await?;
        seconds.push(server.ready_after.as_secs_f64());
        server.stop()?;
    }
    Ok(vec![KINDS[0].is(median(&seconds), spread(&seconds))])
}
