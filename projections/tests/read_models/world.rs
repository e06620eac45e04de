//! A database with a log, keys and a store, and what a test does with them.

use sqlx::PgPool;
use stash_domain::ids::OwnerId;
use stash_domain::position::{Offset, Partition, Position, partition_of};
use stash_domain::record::Record;
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::artifacts::{ArtifactStore, FolderStore};
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::event_log::{EventLog, LogRecord, NewRecord};
use stash_infra::postgres::{self, PoolSizes, Pools, Purpose};
use stash_infra::subject_keys::{CacheSize, MasterKeyFile, SubjectKeys};
use stash_infra::submit::VerdictHub;
use stash_infra::watermark::Watermarks;
use stash_projections::digest::{self, TableDigest};
use stash_projections::{Deps, OnDifference, ProjectionError, Projector, Rebuilt, rebuild, schema};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Far beyond what anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct World {
    pub(crate) pools: Pools,
    pub(crate) log: Arc<dyn EventLog>,
    pub(crate) keys: Arc<SubjectKeys>,
    pub(crate) store: Arc<dyn ArtifactStore>,
    _folder: tempfile::TempDir,
}

pub(crate) fn owner(number: u8) -> OwnerId {
    OwnerId(Uuid::from_u128(0xA000 + u128::from(number)))
}

impl World {
    pub(crate) async fn new() -> Self {
        let database = stash_infra::testing::postgres().database().await;
        let options = (*database.connect_options()).clone();
        let pools = postgres::open(&options, PoolSizes { api: 2, system: 10 }).await.unwrap();
        let log = Arc::new(PostgresLog::open(Purpose::Log.pool(&options, 4), 4).await.unwrap());
        let folder = tempfile::tempdir().unwrap();
        let file = MasterKeyFile::in_folder(folder.path());
        let keys = Arc::new(SubjectKeys::open(pools.system.clone(), file, CacheSize::default()).await.unwrap());
        let signer = LinkSigner::new(&keys.masters());
        let store = Arc::new(FolderStore::open(folder.path().join("blobs"), signer, "/a").await.unwrap());
        Self { pools, log, keys, store, _folder: folder }
    }

    pub(crate) fn system(&self) -> &PgPool {
        &self.pools.system
    }

    pub(crate) fn deps(&self) -> Deps {
        Deps { keys: self.keys.clone(), store: self.store.clone() }
    }

    pub(crate) async fn append(&self, record: &Record) -> Position {
        self.append_bytes(record.owner_id, stash_schemas::encode_record(record).unwrap()).await
    }

    pub(crate) async fn append_bytes(&self, owner: OwnerId, value: Vec<u8>) -> Position {
        let record = NewRecord {
            partition: partition_of(owner, self.log.partitions()),
            key: owner.0.as_bytes().to_vec().into(),
            value: value.into(),
        };
        self.log.append(vec![record]).await.unwrap()[0]
    }

    pub(crate) fn projector(&self, log: &Arc<dyn EventLog>) -> Projector {
        Projector {
            log: log.clone(),
            pool: self.system().clone(),
            deps: self.deps(),
            hub: Arc::new(VerdictHub::default()),
            marks: Arc::new(Watermarks::new(log.partitions())),
        }
    }

    /// Projects everything that the log holds now.
    pub(crate) async fn project(&self, log: &Arc<dyn EventLog>) {
        let projector = self.projector(log);
        let stop = CancellationToken::new();
        let all_applied = async {
            self.wait_until_applied(&projector.marks).await;
            stop.cancel();
        };
        let (ended, ()) = tokio::join!(projector.run(stop.clone()), all_applied);
        ended.unwrap();
    }

    pub(crate) async fn wait_until_applied(&self, marks: &Watermarks) {
        for (partition, tail) in self.tails().await {
            if let Some(last) = tail.0.checked_sub(1) {
                let last = Position { partition, offset: Offset(last) };
                assert!(marks.wait_for(last, PATIENCE).await, "partition {} was not applied", partition.0);
            }
        }
    }

    pub(crate) async fn tails(&self) -> Vec<(Partition, Offset)> {
        let mut tails = Vec::new();
        for partition in (0..self.log.partitions()).map(Partition) {
            tails.push((partition, self.log.tail(partition).await.unwrap()));
        }
        tails
    }

    /// Every record, in order within each partition.
    pub(crate) async fn records(&self) -> Vec<LogRecord> {
        let tails = self.tails().await;
        let from: Vec<_> = tails.iter().map(|(partition, _)| (*partition, Offset(0))).collect();
        let count: u64 = tails.iter().map(|(_, tail)| tail.0).sum();
        let mut reader = self.log.read(&from).await.unwrap();
        let mut records = Vec::new();
        while (records.len() as u64) < count {
            records.extend(reader.next(1000, PATIENCE).await.unwrap());
        }
        records
    }

    pub(crate) async fn rebuild(&self, log: &Arc<dyn EventLog>) -> Result<Rebuilt, ProjectionError> {
        rebuild(self.system(), log, &self.deps(), OnDifference::Keep, &mut |_, _| {}).await
    }

    pub(crate) async fn digests(&self) -> Vec<TableDigest> {
        let mut connection = self.system().acquire().await.unwrap();
        // Nothing was projected yet where the commands came to nothing.
        let generation = schema::ensure(&mut connection).await.unwrap();
        digest::of(&mut connection, &generation).await.unwrap()
    }

    /// The number that a query gives.
    pub(crate) async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(self.system()).await.unwrap()
    }
}
