//! Appending: records go to librdkafka in order, and the call is answered when the fate of all is known.
//!
//! - Callers wait for room, counted in bytes: back-pressure instead of a full queue.
//! - librdkafka batches, retries and removes its own duplicates (idempotent producer). What it gives up on is told apart by
//!   what it knows of the message: never written, or perhaps written.
//! - While no broker can be reached, calls are refused at once instead of after the delivery timeout. One call at a time finds
//!   out whether that is still so.
//! - A producer that has met a fatal error is replaced.

use super::super::parts::{PART_BYTES_MAX, PART_RECORDS_MAX, append_in_parts, size_of_all};
use super::super::{KEY_BYTES_MAX, LogError, NewRecord};
use super::error::{self, blocking, drop_elsewhere};
use super::native;
use super::settings::{KafkaSettings, QUEUE_BYTES_MAX, RECORD_OVERHEAD_BYTES};
use rdkafka::client::ClientContext;
use rdkafka::config::{FromClientConfigAndContext as _, RDKafkaLogLevel};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Message as _};
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};
use stash_domain::limits::RECORD_BYTES_MAX;
use stash_domain::position::{Offset, Partition, Position};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Longest wait when it is asked whether brokers can be reached again.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

// The largest part must fit, or it would wait for ever.
const _: () = assert!(
    PART_BYTES_MAX + RECORD_BYTES_MAX + KEY_BYTES_MAX + PART_RECORDS_MAX * RECORD_OVERHEAD_BYTES < QUEUE_BYTES_MAX
);

type Answer = Result<Vec<Position>, LogError>;
type Client = ThreadedProducer<Context>;

/// A producer for one topic.
pub(super) struct Producer {
    settings: KafkaSettings,
    topic: String,
    health: Arc<Health>,
    room: Arc<Semaphore>,
    client: Mutex<Arc<Client>>,
    /// Held by the call that finds out whether the brokers, or a new client, will do.
    mending: tokio::sync::Mutex<()>,
}

/// What is known of the connection and of the topic.
struct Health {
    /// No broker can be reached.
    down: AtomicBool,
    /// The client has met an error that it does not recover from.
    fatal: AtomicBool,
    /// A partition gave an offset that it had given before: the topic is not the one that it was.
    replaced: AtomicBool,
    /// Per partition, the largest offset acknowledged to this process; -1 for none.
    acknowledged: Vec<AtomicI64>,
}

impl Producer {
    /// A producer for a topic that exists and has so many partitions.
    ///
    /// # Errors
    /// [`LogError::Unavailable`] when the client cannot be made, as with a wrong property.
    pub(super) fn start(settings: &KafkaSettings, topic: &str, partitions: u16) -> Result<Self, LogError> {
        let health = Arc::new(Health {
            down: AtomicBool::new(false),
            fatal: AtomicBool::new(false),
            replaced: AtomicBool::new(false),
            acknowledged: (0..partitions).map(|_| AtomicI64::new(-1)).collect(),
        });
        let client = Mutex::new(Arc::new(new_client(settings, &health)?));
        Ok(Self {
            settings: settings.clone(),
            topic: topic.to_owned(),
            health,
            room: Arc::new(Semaphore::new(QUEUE_BYTES_MAX)),
            client,
            mending: tokio::sync::Mutex::new(()),
        })
    }

    /// Appends records that were checked before.
    pub(super) async fn append(&self, records: Vec<NewRecord>) -> Answer {
        append_in_parts(records, |part| self.append_part(part)).await
    }

    async fn append_part(&self, records: Vec<NewRecord>) -> Answer {
        self.mend().await?;
        let bytes = u32::try_from(size_of_all(&records, RECORD_OVERHEAD_BYTES)).unwrap_or(u32::MAX);
        let stopped = |_| LogError::Unavailable("the producer has stopped".into());
        let room = Arc::clone(&self.room).acquire_many_owned(bytes).await.map_err(stopped)?;
        let partitions = records.iter().map(|record| record.partition).collect();
        let (call, answered) = Call::new(partitions, room);
        self.send(&records, &call);
        drop(call);
        answered.await.map_err(|_| LogError::Unknown("the producer stopped before it answered".into()))?
    }

    /// Sends to another topic from now on.
    #[cfg(test)]
    pub(super) fn redirect(&mut self, topic: &str) {
        topic.clone_into(&mut self.topic);
    }

    /// Hands the records to librdkafka, in order. From the first that it refuses, none is sent.
    fn send(&self, records: &[NewRecord], call: &Arc<Call>) {
        let client = self.client();
        for (index, record) in records.iter().enumerate() {
            let slot = Box::new(Slot { call: Arc::clone(call), index });
            let message = BaseRecord::with_opaque_to(&self.topic, slot)
                .partition(i32::from(record.partition.0))
                .key(&record.key[..])
                .payload(&record.value[..]);
            if let Err((error, _)) = client.send(message) {
                let refused = error::not_written(&error, record.value.len());
                for index in index..records.len() {
                    call.settle(index, Fate::NotWritten(refused.clone()));
                }
                return;
            }
        }
    }

    fn client(&self) -> Arc<Client> {
        Arc::clone(&self.client.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns when there is a client that may reach a broker.
    async fn mend(&self) -> Result<(), LogError> {
        if self.health.replaced.load(Ordering::Acquire) {
            return Err(LogError::Corrupt(format!("the topic {} is not the one that was opened", self.topic)));
        }
        if !self.health.down.load(Ordering::Acquire) && !self.health.fatal.load(Ordering::Acquire) {
            return Ok(());
        }
        let Ok(_mending) = self.mending.try_lock() else {
            return Err(LogError::Unavailable("no Kafka broker can be reached".into()));
        };
        if self.health.fatal.load(Ordering::Acquire) {
            let (settings, health) = (self.settings.clone(), Arc::clone(&self.health));
            let fresh = blocking(move || new_client(&settings, &health)).await?;
            let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            drop_elsewhere(std::mem::replace(&mut *client, Arc::new(fresh)));
            self.health.fatal.store(false, Ordering::Release);
        }
        let (client, topic) = (self.client(), self.topic.clone());
        blocking(move || {
            let reached = client.client().fetch_metadata(Some(&topic), PROBE_TIMEOUT);
            drop_elsewhere(client);
            reached.map(|_| ()).map_err(|error| LogError::Unavailable(error.to_string()))
        })
        .await?;
        self.health.down.store(false, Ordering::Release);
        Ok(())
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        drop_elsewhere(self.client());
    }
}

fn new_client(settings: &KafkaSettings, health: &Arc<Health>) -> Result<Client, LogError> {
    let context = Context { health: Arc::clone(health) };
    Client::from_config_and_context(&settings.producer(), context)
        .map_err(|error| LogError::Unavailable(format!("the Kafka client cannot be made: {error}")))
}

/// Records of one call, on their way.
struct Call {
    partitions: Vec<Partition>,
    progress: Mutex<Progress>,
    _room: OwnedSemaphorePermit,
}

struct Progress {
    fates: Vec<Option<Fate>>,
    open: usize,
    answer: Option<oneshot::Sender<Answer>>,
}

/// What became of a record.
enum Fate {
    Written(u64),
    NotWritten(LogError),
    Unknown(String),
}

/// A record of a call: what librdkafka hands back with its fate.
struct Slot {
    call: Arc<Call>,
    index: usize,
}

impl Call {
    fn new(partitions: Vec<Partition>, room: OwnedSemaphorePermit) -> (Arc<Self>, oneshot::Receiver<Answer>) {
        let (answer, answered) = oneshot::channel();
        let open = partitions.len();
        let fates = (0..open).map(|_| None).collect();
        let progress = Mutex::new(Progress { fates, open, answer: Some(answer) });
        (Arc::new(Self { partitions, progress, _room: room }), answered)
    }

    /// Notes a record's fate, and answers the call after the last.
    fn settle(&self, index: usize, fate: Fate) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = progress.fates.get_mut(index).filter(|place| place.is_none()) else { return };
        *place = Some(fate);
        progress.open -= 1;
        if progress.open > 0 {
            return;
        }
        let fates = std::mem::take(&mut progress.fates);
        if let Some(answer) = progress.answer.take() {
            // A caller that has gone away does not want its answer.
            let _ = answer.send(answer_of(&self.partitions, fates.into_iter().flatten()));
        }
    }
}

/// All written: their positions. None written: why. Anything else is unknown to the caller as a whole.
fn answer_of(partitions: &[Partition], fates: impl Iterator<Item = Fate>) -> Answer {
    let mut positions = Vec::with_capacity(partitions.len());
    let (mut refused, mut unknown) = (None, None);
    for (partition, fate) in partitions.iter().zip(fates) {
        match fate {
            Fate::Written(offset) => positions.push(Position { partition: *partition, offset: Offset(offset) }),
            Fate::NotWritten(error) => refused = refused.or(Some(error)),
            Fate::Unknown(text) => unknown = unknown.or(Some(text)),
        }
    }
    match (refused, unknown) {
        (None, None) => Ok(positions),
        (_, Some(text)) => Err(LogError::Unknown(text)),
        (Some(error), None) if positions.is_empty() => Err(error),
        (Some(error), None) => Err(LogError::Unknown(format!("{} records were taken, then: {error}", positions.len()))),
    }
}

/// What librdkafka calls back.
struct Context {
    health: Arc<Health>,
}

impl Health {
    /// Notes an acknowledged offset; what it means for its record.
    fn acknowledge(&self, partition: i32, offset: i64) -> Fate {
        let last = usize::try_from(partition).ok().and_then(|index| self.acknowledged.get(index));
        match (u64::try_from(offset), last) {
            // Acknowledgements of a partition come in order.
            (Ok(number), Some(last)) if last.fetch_max(offset, Ordering::AcqRel) < offset => Fate::Written(number),
            (Err(_), _) | (_, None) => Fate::Unknown(format!("acknowledged at {partition}/{offset}")),
            _ => {
                self.replaced.store(true, Ordering::Release);
                Fate::Unknown(format!("offset {offset} of partition {partition} was given a second time"))
            }
        }
    }
}

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        super::log_line(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::AllBrokersDown) => self.health.down.store(true, Ordering::Release),
            Some(RDKafkaErrorCode::Fatal) => self.health.fatal.store(true, Ordering::Release),
            _ => {}
        }
        tracing::debug!(%error, reason, "Kafka producer");
    }
}

impl ProducerContext for Context {
    type DeliveryOpaque = Box<Slot>;

    fn delivery(&self, result: &DeliveryResult<'_>, slot: Box<Slot>) {
        let fate = match result {
            Ok(message) => {
                self.health.down.store(false, Ordering::Release);
                self.health.acknowledge(message.partition(), message.offset())
            }
            Err((error, message)) => {
                if error.rdkafka_error_code() == Some(RDKafkaErrorCode::Fatal) {
                    self.health.fatal.store(true, Ordering::Release);
                }
                if native::surely_not_written(message) {
                    Fate::NotWritten(error::not_written(error, message.payload_len()))
                } else {
                    Fate::Unknown(error.to_string())
                }
            }
        };
        slot.call.settle(slot.index, fate);
    }
}
