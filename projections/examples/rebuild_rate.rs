//! How fast a rebuild goes: fills a throw-away log with annotation records and rebuilds from it.
//!
//! ```text
//! cargo run --release -p stash-projections --example rebuild_rate -- 200000
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for people at a prompt")]

use stash_domain::annotation::AnnotationText;
use stash_domain::events::AnnotationCreated;
use stash_domain::ids::{CommandId, Digest, OwnerId, SubjectId, TraceId, derive};
use stash_domain::position::partition_of;
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::time::Timestamp;
use stash_infra::artifacts::FolderStore;
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::event_log::{EventLog, NewRecord};
use stash_infra::postgres::{self, PoolSizes, Purpose};
use stash_infra::seal;
use stash_infra::subject_keys::{CacheSize, MasterKeyFile, SubjectKey, SubjectKeys};
use stash_projections::{Deps, OnDifference, rebuild};
use std::sync::Arc;
use std::time::Instant;
use uuid::Uuid;

/// Records of one append.
const APPEND: u64 = 2000;

/// Traces that the annotations are on, each with a key of its own.
const TRACES: u64 = 1000;

#[tokio::main]
async fn main() {
    let count: u64 = std::env::args().nth(1).map_or(200_000, |count| count.parse().unwrap());
    let database = stash_infra::testing::postgres().database().await;
    let options = (*database.connect_options()).clone();
    let pools = postgres::open(&options, PoolSizes::default()).await.unwrap();
    let log: Arc<dyn EventLog> = Arc::new(PostgresLog::open(Purpose::Log.pool(&options, 4), 16).await.unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = MasterKeyFile::in_folder(folder.path());
    let keys = Arc::new(SubjectKeys::open(pools.system.clone(), file, CacheSize::default()).await.unwrap());
    let store = Arc::new(FolderStore::open(folder.path(), LinkSigner::new(&keys.masters()), "/a").await.unwrap());

    let owners: Vec<OwnerId> = (0..4).map(|n| OwnerId(Uuid::from_u128(n))).collect();
    let subjects: Vec<SubjectId> = (0..TRACES).map(|n| SubjectId(derive("trace", &[&n.to_be_bytes()]))).collect();
    let mut sealing = Vec::new();
    for owner in &owners {
        sealing.push(keys.ensure(*owner, &subjects).await.unwrap());
    }
    for first in (0..count).step_by(usize::try_from(APPEND).unwrap()) {
        let number = |n: u64, of: usize| usize::try_from(n).unwrap() % of;
        let key = |n: u64| &sealing[number(n, owners.len())][number(n / 4, subjects.len())];
        let records = (first..count.min(first + APPEND)).map(|n| new_record(n, key(n), log.partitions())).collect();
        log.append(records).await.unwrap();
    }
    println!("{count} records in the log");

    // Another log id would be refused; an empty database has no checkpoint yet, so the live projector goes first.
    let deps = Deps { keys, store };
    live(&pools.system, &log, &deps, count).await;
    let began = Instant::now();
    let rebuilt = rebuild(&pools.system, &log, &deps, OnDifference::Keep, &mut |_, _| {}).await.unwrap();
    let seconds = began.elapsed().as_secs_f64();
    let rate = rebuilt.records as f64 / seconds;
    println!("rebuild: {} events in {seconds:.2} s, {rate:.0} events/s, digests included", rebuilt.records);
}

/// Projects everything once, as a server does.
async fn live(pool: &sqlx::PgPool, log: &Arc<dyn EventLog>, deps: &Deps, count: u64) {
    let marks = Arc::new(stash_infra::watermark::Watermarks::new(log.partitions()));
    let projector = stash_projections::Projector {
        log: log.clone(),
        pool: pool.clone(),
        deps: deps.clone(),
        hub: Arc::default(),
        marks: marks.clone(),
    };
    let stop = tokio_util::sync::CancellationToken::new();
    let began = Instant::now();
    let all_applied = async {
        for partition in (0..log.partitions()).map(stash_domain::position::Partition) {
            let tail = log.tail(partition).await.unwrap();
            if let Some(last) = tail.0.checked_sub(1) {
                let offset = stash_domain::position::Offset(last);
                let position = stash_domain::position::Position { partition, offset };
                assert!(marks.wait_for(position, std::time::Duration::from_secs(3600)).await);
            }
        }
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(projector.run(stop.clone()), all_applied);
    ended.unwrap();
    let seconds = began.elapsed().as_secs_f64();
    println!("live: {count} events in {seconds:.2} s, {:.0} events/s", count as f64 / seconds);
}

fn new_record(n: u64, key: &SubjectKey, partitions: u16) -> NewRecord {
    let owner = key.owner();
    let annotation_id = derive("annotation", &[&n.to_be_bytes()]).into();
    let text = AnnotationText {
        comment: Some(format!("Comment {n}: the second call should have read the file before it was written.")),
        author_name: Some("Ada".into()),
        ..AnnotationText::default()
    };
    let text = seal::seal(key, seal::Purpose::ANNOTATION_TEXT, &stash_schemas::encode_text(&text).unwrap()).unwrap();
    let event = AnnotationCreated {
        annotation_id,
        trace_id: TraceId(key.subject().0),
        step_id: None,
        rating: Some(1),
        author_id: owner,
        subject_id: key.subject(),
        text: Some(text),
    };
    let command_id = CommandId(derive("command", &[&n.to_be_bytes()]));
    let record = Record {
        command_id,
        owner_id: owner,
        request_digest: Digest::of(command_id.0.as_bytes()),
        actor: Actor::System,
        causation_id: None,
        correlation_id: Uuid::nil(),
        recorded_at: Timestamp(n.cast_signed()),
        appends: vec![Append {
            stream: StreamId::Annotation(annotation_id),
            expected: Expected::Version(0),
            events: vec![event.into()],
        }],
    };
    NewRecord {
        partition: partition_of(owner, partitions),
        key: owner.0.as_bytes().to_vec().into(),
        value: stash_schemas::encode_record(&record).unwrap().into(),
    }
}
