//! Every backend of the event log passes the one suite.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use stash_infra::event_log::EventLog;
use stash_infra::event_log::conformance::{self, PARTITIONS, Place};
use stash_infra::event_log::faulty::{Faults, FaultyLog};
use stash_infra::event_log::kafka::{KafkaLog, KafkaSettings};
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::event_log::sim::SimLog;
use stash_infra::testing;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_passes_the_suite() {
    conformance::run(|| async {
        let pool = testing::postgres().log_database().await;
        Place::new(move || {
            let pool = pool.clone();
            async move {
                let log: Arc<dyn EventLog> = Arc::new(PostgresLog::open(pool, PARTITIONS).await.unwrap());
                log
            }
        })
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kafka_passes_the_suite() {
    static TOPICS: AtomicU32 = AtomicU32::new(0);
    conformance::run(|| async {
        let bootstrap = tokio::task::block_in_place(testing::kafka).bootstrap();
        let settings = KafkaSettings::new(bootstrap, format!("suite-{}", TOPICS.fetch_add(1, Ordering::Relaxed)));
        Place::new(move || {
            let settings = settings.clone();
            async move {
                let log: Arc<dyn EventLog> = Arc::new(KafkaLog::open(settings, PARTITIONS).await.unwrap());
                log
            }
        })
    })
    .await;
}

/// Seeds that the suite runs with. Each gives other interleavings.
const SEEDS: u64 = 20;

#[tokio::test]
async fn sim_passes_the_suite() {
    for seed in 0..SEEDS {
        println!("seed {seed}");
        conformance::run(|| async {
            let log = SimLog::new(seed, PARTITIONS);
            Place::new(move || {
                let log: Arc<dyn EventLog> = Arc::new(log.clone());
                async move { log }
            })
        })
        .await;
    }
}

/// Faults that change nothing and say so: the suite tries again and must find the same log. Those that leave the caller in
/// doubt are tested where command ids settle it.
#[tokio::test]
async fn a_faulty_log_passes_the_suite() {
    let faults = Faults { refused: 0.3, read_refused: 0.3, read_delayed: 0.3, ..Faults::default() };
    for seed in 0..SEEDS {
        println!("seed {seed}");
        conformance::run(|| async {
            let inner: Arc<dyn EventLog> = Arc::new(SimLog::new(seed, PARTITIONS));
            let log = FaultyLog::new(inner, seed, faults);
            Place::new(move || {
                let log: Arc<dyn EventLog> = Arc::new(log.clone());
                async move { log }
            })
        })
        .await;
    }
}
