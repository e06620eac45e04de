//! `idle_mb`: memory of all processes of `stash up`, Postgres included, half a minute after its start with nothing to do.
//!
//! Summed as the kernel's proportional set size, which counts a page that several processes share once in all.

use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::memory;
use std::time::Duration;

pub(super) static KINDS: [Kind; 1] = [Kind { name: "idle_mb", unit: "MB", better: Better::Lower, target: Some(150.0) }];

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    let place = bench.place(Log::Postgres)?;
    // A folder that was used before: making one leaves more in memory than starting on it.
    place.start().await?.stop()?;
    let server = place.start_without_key().await?;
    tokio::time::sleep(bench.full_or_quick(Duration::from_secs(30), Duration::from_secs(2))).await;
    let (sum, processes) = memory::proportional_mb(server.pid(), &place.data)?;
    let own = memory::of_one_mb(server.pid())?.unwrap_or(0.0);
    server.stop()?;
    let note = format!("{processes} processes; stash itself {own:.0} MB");
    Ok(vec![KINDS[0].is(sum, note)])
}
