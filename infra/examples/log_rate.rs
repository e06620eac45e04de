//! How many records a second a log backend takes, with flushes to disk on, from 64 clients that each wait for their answer:
//! `cargo run --release -p stash-infra --example log_rate -- postgres|kafka|kafka3 [seconds] [clients] [bytes] [handles]`.
//!
//! One reader follows all the time and every record is checked to arrive, so that the figure includes reading. More than one
//! handle stands for more than one process.

use bytes::Bytes;
use stash_domain::position::{Offset, PARTITIONS_DEFAULT, Partition};
use stash_infra::event_log::kafka::{KafkaLog, KafkaSettings};
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::event_log::{EventLog, LogError, NewRecord};
use stash_infra::testing::{Durability, Kafka, Postgres};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |index: usize, default: usize| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default);
    let backend = arguments.first().map_or("postgres", String::as_str);
    let (seconds, clients, bytes, handles) = (number(1, 10), number(2, 64), number(3, 400), number(4, 1));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match backend {
        "postgres" => {
            let server = Postgres::start(Durability::Full);
            runtime.block_on(async {
                let pool = server.log_database().await;
                let mut logs: Vec<Arc<dyn EventLog>> = Vec::new();
                for _ in 0..handles {
                    logs.push(Arc::new(PostgresLog::open(pool.clone(), PARTITIONS_DEFAULT).await?));
                }
                measure(&logs, seconds, clients, bytes).await
            })?;
        }
        "kafka" | "kafka3" => {
            let brokers = if backend == "kafka" { 1 } else { 3 };
            let cluster = Kafka::start(brokers);
            let mut settings = KafkaSettings::new(cluster.bootstrap(), "rate");
            settings.replication = i32::from(brokers);
            settings.min_insync_replicas = Some(u16::from(brokers).div_ceil(2));
            runtime.block_on(async {
                let mut logs: Vec<Arc<dyn EventLog>> = Vec::new();
                for _ in 0..handles {
                    logs.push(Arc::new(KafkaLog::open(settings.clone(), PARTITIONS_DEFAULT).await?));
                }
                measure(&logs, seconds, clients, bytes).await
            })?;
        }
        other => return Err(format!("no backend {other}: postgres, kafka or kafka3").into()),
    }
    Ok(())
}

/// Appends for so many seconds and prints the figures.
async fn measure(logs: &[Arc<dyn EventLog>], seconds: usize, clients: usize, bytes: usize) -> Result<(), LogError> {
    let from: Vec<_> = (0..logs[0].partitions()).map(|partition| (Partition(partition), Offset(0))).collect();
    let mut reader = logs[0].read(&from).await?;
    let (done, mut all_done) = tokio::sync::watch::channel(None::<usize>);
    let following = tokio::spawn(async move {
        let (mut seen, mut reads) = (0, 0_usize);
        loop {
            let records = reader.next(5000, Duration::from_millis(100)).await?;
            seen += records.len();
            reads += 1;
            if all_done.borrow_and_update().is_some_and(|expected| seen >= expected) {
                return Ok::<(usize, usize), LogError>((seen, reads));
            }
        }
    });

    let begun = Instant::now();
    let end = begun + Duration::from_secs(seconds as u64);
    let writers: Vec<_> = (0..clients)
        .map(|client| {
            let log = Arc::clone(&logs[client % logs.len()]);
            tokio::spawn(async move {
                let value = Bytes::from(vec![u8::try_from(client % 256).unwrap_or(0); bytes]);
                let key = Bytes::from(vec![1; 16]);
                let mut latencies = Vec::new();
                while Instant::now() < end {
                    let partition = Partition(u16::try_from((client * 7 + latencies.len()) % 16).unwrap_or(0));
                    let sent = Instant::now();
                    log.append(vec![NewRecord { partition, key: key.clone(), value: value.clone() }]).await?;
                    latencies.push(sent.elapsed());
                }
                Ok::<_, LogError>(latencies)
            })
        })
        .collect();
    let mut latencies = Vec::new();
    for writer in writers {
        latencies.extend(writer.await.map_err(|error| LogError::Unknown(error.to_string()))??);
    }
    let elapsed = begun.elapsed();
    done.send_replace(Some(latencies.len()));
    let (seen, reads) = following.await.map_err(|error| LogError::Unknown(error.to_string()))??;
    let caught_up = begun.elapsed() - elapsed;
    latencies.sort_unstable();
    let percentile = |share: f64| latencies.get((latencies.len() as f64 * share) as usize).copied().unwrap_or_default();
    println!(
        "{clients} clients, {bytes} bytes: {:.0} records/s; append p50 {:?} p99 {:?}; {seen} read in {reads} reads, the last \
         {caught_up:?} after the last append",
        latencies.len() as f64 / elapsed.as_secs_f64(),
        percentile(0.5),
        percentile(0.99),
    );

    let mut again = logs[0].read(&from).await?;
    let (begun, mut count) = (Instant::now(), 0);
    while count < seen {
        count += again.next(5000, Duration::from_secs(1)).await?.len();
    }
    println!("read again from the start: {:.0} records/s", count as f64 / begun.elapsed().as_secs_f64());
    Ok(())
}
