//! The writer: takes what is queued, appends it in one transaction, answers.
//!
//! 1. A caller waits for room in the queue (bytes, then calls): back-pressure instead of memory.
//! 2. The writer takes the first waiting call and all others that are there, up to a group's bounds.
//! 3. It orders the group's records by partition, keeping the order within each, and sends one `log_append`.
//! 4. It answers every call of the group, wakes the readers of this process and asks for a notification.
//!
//! A call that is dropped before step 2 is not appended; later it may be.

use super::super::parts::{PART_BYTES_MAX, PART_RECORDS_MAX, append_in_parts, size_of_all};
use super::super::{KEY_BYTES_MAX, LogError, NewRecord};
use super::wake::Wake;
use super::{error, offset_of};
use sqlx::{Connection as _, Executor as _, PgConnection, PgPool};
use stash_domain::limits::RECORD_BYTES_MAX;
use stash_domain::position::{LogId, Offset, Partition, Position};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout};

/// Calls waiting in the queue. With 64 clients it never fills; it bounds what a burst can pile up while Postgres is slow.
const QUEUE_CALLS_MAX: usize = 4096;

/// Bytes of all records that wait or are being appended.
const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Records at which a group takes no further call. A group of this many small records takes about 20 ms; larger ones gain
/// nothing.
const GROUP_RECORDS_MAX: usize = PART_RECORDS_MAX;

/// Bytes at which a group takes no further call. Postgres holds a group's arrays in memory a few times over.
const GROUP_BYTES_MAX: usize = PART_BYTES_MAX;

/// Counted for each record beside its key and value: the structs that hold it here.
const RECORD_OVERHEAD_BYTES: usize = 128;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest wait for a group's answer; longer than the server's own limits (`session.sql`), so that those mostly decide.
const GROUP_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection unused for this long is tried before records are sent over it: a server that was restarted meanwhile then
/// costs a reconnection instead of an unknown outcome.
const IDLE_BEFORE_PING: Duration = Duration::from_secs(1);

// The largest call must fit the queue, or it would wait for ever.
const _: () = assert!(
    PART_BYTES_MAX + RECORD_BYTES_MAX + KEY_BYTES_MAX + PART_RECORDS_MAX * RECORD_OVERHEAD_BYTES < QUEUE_BYTES_MAX
);

type Answer = Result<Vec<Position>, LogError>;

/// Records that are appended all or none.
struct Call {
    records: Vec<NewRecord>,
    answer: oneshot::Sender<Answer>,
    _room: OwnedSemaphorePermit,
}

/// The front of the writer: queues calls and waits for their answers.
pub(super) struct Writer {
    queue: mpsc::Sender<Call>,
    room: Arc<Semaphore>,
}

impl Writer {
    /// Starts the writer's task. It ends when the `Writer` is dropped and the queue is empty.
    pub(super) fn start(pool: &PgPool, id: LogId, wake: Arc<Wake>) -> Self {
        let (queue, calls) = mpsc::channel(QUEUE_CALLS_MAX);
        let session = Session { pool: pool.clone(), id, connection: None, used: Instant::now() };
        tokio::spawn(run(calls, session, wake));
        Self { queue, room: Arc::new(Semaphore::new(QUEUE_BYTES_MAX)) }
    }

    /// Appends records that were checked before.
    pub(super) async fn append(&self, records: Vec<NewRecord>) -> Answer {
        append_in_parts(records, |part| self.append_part(part)).await
    }

    async fn append_part(&self, records: Vec<NewRecord>) -> Answer {
        let stopped = || LogError::Unavailable("the log's writer has stopped".into());
        let bytes = u32::try_from(size_of_all(&records, RECORD_OVERHEAD_BYTES)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(bytes).await.map_err(|_| stopped())?;
        let (answer, answered) = oneshot::channel();
        self.queue.send(Call { records, answer, _room: room }).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| LogError::Unknown("the log's writer stopped before it answered".into()))?
    }
}

/// The writer's task.
async fn run(mut queue: mpsc::Receiver<Call>, mut session: Session, wake: Arc<Wake>) {
    while let Some(calls) = take_group(&mut queue).await {
        let group = Group::of(&calls);
        let outcome = match session.append(&group).await {
            Ok(firsts) => group.positions(&firsts, &calls),
            Err(error) => Err(error),
        };
        drop(group);
        match outcome {
            Ok(answers) => {
                // Readers are woken first: whoever waits for the answer often waits for a reader next.
                wake.appended(answers.iter().flatten());
                for (call, positions) in calls.into_iter().zip(answers) {
                    // A caller that has gone away does not want its answer.
                    let _ = call.answer.send(Ok(positions));
                }
            }
            Err(error) => {
                tracing::warn!(%error, calls = calls.len(), "a group of records was not appended");
                for call in calls {
                    let _ = call.answer.send(Err(error.clone()));
                }
            }
        }
    }
}

/// Waits for a call, then takes what else is there. None when the queue is closed and empty.
async fn take_group(queue: &mut mpsc::Receiver<Call>) -> Option<Vec<Call>> {
    let mut calls = vec![queue.recv().await?];
    // The callers of the group before were answered an instant ago; let those that are ready to go on queue their next call,
    // or groups of one and of all the others would alternate.
    tokio::task::yield_now().await;
    let mut records = calls[0].records.len();
    let mut bytes = size_of_all(&calls[0].records, 0);
    while records < GROUP_RECORDS_MAX && bytes < GROUP_BYTES_MAX {
        let Ok(call) = queue.try_recv() else { break };
        records += call.records.len();
        bytes += size_of_all(&call.records, 0);
        calls.push(call);
    }
    Some(calls)
}

/// The arguments of one `log_append`: records lane by lane, a lane being a partition that gets any.
struct Group<'a> {
    lanes: Vec<i32>,
    counts: Vec<i32>,
    lane_of: Vec<i32>,
    keys: Vec<&'a [u8]>,
    contents: Vec<&'a [u8]>,
    /// Of each record, which call it belongs to, and which record it is of that call.
    origins: Vec<(usize, usize)>,
}

impl<'a> Group<'a> {
    fn of(calls: &'a [Call]) -> Self {
        let mut by_partition: BTreeMap<Partition, Vec<(usize, usize)>> = BTreeMap::new();
        for (call, Call { records, .. }) in calls.iter().enumerate() {
            for (index, record) in records.iter().enumerate() {
                by_partition.entry(record.partition).or_default().push((call, index));
            }
        }
        let count = by_partition.values().map(Vec::len).sum();
        let mut group = Self {
            lanes: Vec::with_capacity(by_partition.len()),
            counts: Vec::with_capacity(by_partition.len()),
            lane_of: Vec::with_capacity(count),
            keys: Vec::with_capacity(count),
            contents: Vec::with_capacity(count),
            origins: Vec::with_capacity(count),
        };
        for (partition, origins) in by_partition {
            group.lanes.push(i32::from(partition.0));
            // At most GROUP_RECORDS_MAX of the last call more than GROUP_RECORDS_MAX, and no more lanes than records.
            group.counts.push(i32::try_from(origins.len()).unwrap_or(i32::MAX));
            let lane = i32::try_from(group.lanes.len()).unwrap_or(i32::MAX);
            for (call, index) in origins {
                let record = &calls[call].records[index];
                group.lane_of.push(lane);
                group.keys.push(&record.key);
                group.contents.push(&record.value);
                group.origins.push((call, index));
            }
        }
        group
    }

    /// The positions of each call's records, given the first offset of each lane.
    fn positions(&self, firsts: &[i64], calls: &[Call]) -> Result<Vec<Vec<Position>>, LogError> {
        if firsts.len() != self.lanes.len() {
            return Err(LogError::Unknown(format!("{} first offsets for {} lanes", firsts.len(), self.lanes.len())));
        }
        let nowhere = Position { partition: Partition(0), offset: Offset(0) };
        let mut answers: Vec<Vec<Position>> = calls.iter().map(|call| vec![nowhere; call.records.len()]).collect();
        let mut origins = self.origins.iter();
        for (first, count) in firsts.iter().zip(&self.counts) {
            let mut offset = offset_of(*first)?;
            for (call, index) in origins.by_ref().take(usize::try_from(*count).unwrap_or(0)) {
                answers[*call][*index] = Position { partition: calls[*call].records[*index].partition, offset };
                offset = offset.next();
            }
        }
        Ok(answers)
    }
}

/// The writer's connection.
struct Session {
    pool: PgPool,
    id: LogId,
    connection: Option<PgConnection>,
    used: Instant,
}

impl Session {
    /// Appends a group and returns the first offset of each lane.
    async fn append(&mut self, group: &Group<'_>) -> Result<Vec<i64>, LogError> {
        let mut connection = self.connection().await?;
        let append = sqlx::query_scalar(include_str!("append.sql"))
            .bind(self.id.0)
            .bind(&group.lanes)
            .bind(&group.counts)
            .bind(&group.lane_of)
            .bind(&group.keys)
            .bind(&group.contents)
            .fetch_one(&mut connection);
        let outcome = match timeout(GROUP_TIMEOUT, append).await {
            Ok(Ok(firsts)) => Ok(firsts),
            Ok(Err(error)) => Err(error::after_sending(&error)),
            Err(_) => Err(LogError::Unknown(format!("no answer from Postgres within {GROUP_TIMEOUT:?}"))),
        };
        // After an unknown outcome the state of the connection is unknown too: it is not used again.
        if !matches!(outcome, Err(LogError::Unknown(_))) {
            self.connection = Some(connection);
            self.used = Instant::now();
        }
        outcome
    }

    /// A connection that works, as far as one can know.
    async fn connection(&mut self) -> Result<PgConnection, LogError> {
        if let Some(mut connection) = self.connection.take() {
            if self.used.elapsed() < IDLE_BEFORE_PING {
                return Ok(connection);
            }
            if let Ok(Ok(())) = timeout(CONNECT_TIMEOUT, connection.ping()).await {
                return Ok(connection);
            }
        }
        match timeout(CONNECT_TIMEOUT, self.connect()).await {
            Ok(connected) => connected,
            Err(_) => Err(LogError::Unavailable(format!("no connection to Postgres within {CONNECT_TIMEOUT:?}"))),
        }
    }

    async fn connect(&self) -> Result<PgConnection, LogError> {
        let before = |error: sqlx::Error| error::before_commit(&error);
        let mut connection = PgConnection::connect_with(&self.pool.connect_options()).await.map_err(before)?;
        connection.execute(sqlx::raw_sql(include_str!("session.sql"))).await.map_err(before)?;
        Ok(connection)
    }
}
