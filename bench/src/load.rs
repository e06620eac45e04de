//! Load of annotation commands: as many as the server takes, or at a pace.
//!
//! One thread makes all of it (the runtime of this program has one), since the server needs the cores.

use crate::http::{Access, Connection};
use anyhow::Context as _;
use nix::sys::resource::{UsageWho, getrusage};
use serde::Deserialize;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Connections of a paced load: requests that may be on their way at once.
const PACED_CONNECTIONS: usize = 256;

/// Tries of one read; each may wait for the server's whole wait budget.
const READ_TRIES_MAX: usize = 150;

/// When a closed load ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// After this time.
    Time(Duration),
    /// After so many commands.
    Count(u64),
}

/// What a closed load did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closed {
    /// Commands answered with 201 before the end.
    pub(crate) accepted: u64,
    /// Commands answered with anything else.
    pub(crate) other: u64,
    /// How long it took.
    pub(crate) elapsed: Duration,
    /// Processor time of this program, as a share of one core.
    pub(crate) own_share: f64,
}

impl Closed {
    /// Accepted commands per second.
    pub(crate) fn rate(&self) -> f64 {
        self.accepted as f64 / self.elapsed.as_secs_f64()
    }
}

/// What a paced load found.
#[derive(Clone, Debug)]
pub(crate) struct Paced {
    /// Milliseconds of each command from when it was due to the first successful read of its annotation.
    pub(crate) latencies_ms: Vec<f64>,
    /// Commands not answered with 201, or whose annotation could not be read.
    pub(crate) failed: u64,
    /// Processor time of this program, as a share of one core.
    pub(crate) own_share: f64,
}

#[derive(Deserialize)]
struct Annotation<'a> {
    id: &'a str,
}

/// Each of `clients` sends its next command as soon as the last is answered.
pub(crate) async fn closed(access: &Access, traces: &[String], clients: usize, until: Until) -> anyhow::Result<Closed> {
    let mut connections = Vec::with_capacity(clients);
    for _ in 0..clients {
        connections.push(Connection::open(access).await?);
    }
    let (begin, used) = (Instant::now(), processor_time()?);
    let left = Rc::new(Cell::new(match until {
        Until::Count(count) => count,
        Until::Time(_) => u64::MAX,
    }));
    let end = match until {
        Until::Time(time) => Some(begin + time),
        Until::Count(_) => None,
    };
    let local = tokio::task::LocalSet::new();
    let mut running = JoinSet::new();
    for (client, mut connection) in connections.into_iter().enumerate() {
        let path = annotations_path(&traces[client % traces.len()]);
        let left = Rc::clone(&left);
        running.spawn_local_on(
            async move {
                let (mut accepted, mut other) = (0_u64, 0_u64);
                while end.is_none_or(|end| Instant::now() < end) && left.get() > 0 {
                    left.set(left.get() - 1);
                    let answer = connection.post(&path, body(client as u64 + accepted).as_bytes()).await?;
                    // What is answered after the end belongs to no second of the measurement.
                    if end.is_none_or(|end| Instant::now() < end) {
                        if answer.status == 201 { accepted += 1 } else { other += 1 }
                    }
                }
                anyhow::Ok((accepted, other))
            },
            &local,
        );
    }
    let (mut accepted, mut other) = (0, 0);
    local
        .run_until(async {
            while let Some(done) = running.join_next().await {
                let (more, others) = done??;
                accepted += more;
                other += others;
            }
            anyhow::Ok(())
        })
        .await?;
    let elapsed = match until {
        Until::Time(time) => time,
        Until::Count(_) => begin.elapsed(),
    };
    Ok(Closed { accepted, other, elapsed, own_share: share(used, begin)? })
}

/// Commands at fixed moments, whether earlier ones are answered or not, each followed by the read of its annotation. A command
/// that had to wait for a connection counts from its moment, so that a slow server cannot slow the clock down.
pub(crate) async fn paced(access: &Access, traces: &[String], rate: f64, time: Duration) -> anyhow::Result<Paced> {
    let count = ((rate * time.as_secs_f64()) as u64).max(1);
    let workers = usize::try_from(count).unwrap_or(PACED_CONNECTIONS).min(PACED_CONNECTIONS);
    let mut connections = Vec::with_capacity(workers);
    for _ in 0..workers {
        connections.push(Connection::open(access).await?);
    }
    let (begin, used) = (Instant::now(), processor_time()?);
    let next = Rc::new(Cell::new(0_u64));
    let local = tokio::task::LocalSet::new();
    let mut running = JoinSet::new();
    for mut connection in connections {
        let next = Rc::clone(&next);
        let paths: Vec<String> = traces.iter().map(|trace| annotations_path(trace)).collect();
        running.spawn_local_on(
            async move {
                let (mut latencies, mut failed) = (Vec::new(), 0_u64);
                loop {
                    let number = next.get();
                    if number >= count {
                        return anyhow::Ok((latencies, failed));
                    }
                    next.set(number + 1);
                    let due = begin + Duration::from_secs_f64(number as f64 / rate);
                    tokio::time::sleep_until(due).await;
                    let path = &paths[usize::try_from(number).unwrap_or(0) % paths.len()];
                    if !write_and_read(&mut connection, path, number).await? {
                        failed += 1;
                    }
                    latencies.push(due.elapsed().as_secs_f64() * 1e3);
                }
            },
            &local,
        );
    }
    let mut paced = Paced { latencies_ms: Vec::new(), failed: 0, own_share: 0.0 };
    local
        .run_until(async {
            while let Some(done) = running.join_next().await {
                let (latencies, failed) = done??;
                paced.latencies_ms.extend(latencies);
                paced.failed += failed;
            }
            anyhow::Ok(())
        })
        .await?;
    paced.own_share = share(used, begin)?;
    Ok(paced)
}

/// Whether the command was accepted and its annotation read.
async fn write_and_read(connection: &mut Connection, path: &str, number: u64) -> anyhow::Result<bool> {
    let answer = connection.post(path, body(number).as_bytes()).await?;
    if answer.status != 201 {
        return Ok(false);
    }
    let annotation: Annotation<'_> = serde_json::from_slice(&answer.body).context("no annotation was answered")?;
    let path = format!("/annotations/{}", annotation.id);
    read_at(connection, &path, answer.position.as_deref()).await
}

/// Reads until the answer is a success; false if it never is. A server that is behind says so after its wait budget.
pub(crate) async fn read_at(connection: &mut Connection, path: &str, position: Option<&str>) -> anyhow::Result<bool> {
    for _ in 0..READ_TRIES_MAX {
        match connection.get(path, position).await?.status {
            200 => return Ok(true),
            503 => {}
            _ => return Ok(false),
        }
    }
    Ok(false)
}

fn annotations_path(trace: &str) -> String {
    format!("/traces/{trace}/annotations")
}

/// A rating with a short comment, as a person leaves it.
fn body(number: u64) -> String {
    let rating = if number.is_multiple_of(2) { 1 } else { -1 };
    format!(r#"{{"rating":{rating},"comment":"looked at call {number}: the refund was checked before it was made"}}"#)
}

/// Processor time of this program.
fn processor_time() -> nix::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let time = |value: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(value.tv_sec() * 1_000_000 + value.tv_usec()).unwrap_or(0))
    };
    Ok(time(usage.user_time()) + time(usage.system_time()))
}

fn share(used_before: Duration, begin: Instant) -> anyhow::Result<f64> {
    let used = processor_time()?.saturating_sub(used_before);
    Ok(used.as_secs_f64() / begin.elapsed().as_secs_f64().max(f64::MIN_POSITIVE))
}
