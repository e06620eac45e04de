//! The writing side of an answer.

use super::{BUFFERED_MAX, CHUNK_BYTES, CHUNKS_WAITING, PLACE_WAIT_MAX, STALL_MAX};
use bytes::Bytes;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// Why an answer could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// The read models hold something that cannot be shown: a bug of ours.
    #[error("a row cannot be shown: {0}")]
    Damaged(String),
    /// All places for long answers are taken.
    #[error("too many long answers at once")]
    Busy,
    /// The client went away.
    #[error("the client went away")]
    Gone,
    /// The client reads nothing.
    #[error("the client reads nothing")]
    Stalled,
    /// The writing task failed after the first chunk; it has said why.
    #[error("the answer is incomplete")]
    Incomplete,
    /// The writing task panicked.
    #[error("the answer could not be written")]
    Panicked,
}

impl From<std::io::Error> for BodyError {
    /// Of writing into memory, which fails only when a value cannot be written as JSON.
    fn from(error: std::io::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl From<serde_json::Error> for BodyError {
    fn from(error: serde_json::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// The places for long answers, and how patient they are. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct LongAnswers {
    places: Arc<Semaphore>,
    /// How long a long answer waits for its place.
    place_wait_max: Duration,
    /// How long a client may read nothing.
    stall_max: Duration,
}

impl LongAnswers {
    /// So many places.
    pub(crate) fn new(count: usize) -> Self {
        Self::with_patience(count, PLACE_WAIT_MAX, STALL_MAX)
    }

    /// So many places, and times other than the usual.
    pub(super) fn with_patience(count: usize, place_wait_max: Duration, stall_max: Duration) -> Self {
        Self { places: Arc::new(Semaphore::new(count)), place_wait_max, stall_max }
    }

    /// Places that are free.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.places.available_permits()
    }

    pub(super) async fn take(&self) -> Result<OwnedSemaphorePermit, BodyError> {
        match tokio::time::timeout(self.place_wait_max, Arc::clone(&self.places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(BodyError::Busy),
        }
    }
}

/// What goes to the client's side.
pub(super) enum Part {
    /// Some bytes.
    Chunk(Bytes),
    /// All is said.
    End,
}

enum Phase {
    /// Nothing was sent yet.
    Buffered { start: oneshot::Sender<mpsc::Receiver<Part>>, places: LongAnswers },
    /// The client reads along.
    Streamed { parts: mpsc::Sender<Part>, stall_max: Duration, _place: OwnedSemaphorePermit },
}

/// Writes an answer. Bytes are taken without waiting; [`Writer::pause`] between pieces sends them when there are enough.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    phase: Phase,
}

impl Writer {
    pub(super) fn new(start: oneshot::Sender<mpsc::Receiver<Part>>, places: LongAnswers) -> Self {
        Self { bytes: Vec::new(), phase: Phase::Buffered { start, places } }
    }

    /// Appends text as it is.
    pub(crate) fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// What was written and not sent yet, for code that appends to a vector of bytes.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends a value as JSON.
    ///
    /// # Errors
    /// [`BodyError::Damaged`].
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), BodyError> {
        Ok(serde_json::to_writer(&mut self.bytes, value)?)
    }

    /// Sends what there is, if it is enough to be worth it.
    ///
    /// # Errors
    /// [`BodyError::Busy`], [`BodyError::Gone`] and [`BodyError::Stalled`].
    pub(crate) async fn pause(&mut self) -> Result<(), BodyError> {
        let enough = match self.phase {
            Phase::Buffered { .. } => BUFFERED_MAX,
            Phase::Streamed { .. } => CHUNK_BYTES,
        };
        if self.bytes.len() >= enough { self.send().await } else { Ok(()) }
    }

    async fn send(&mut self) -> Result<(), BodyError> {
        if let Phase::Buffered { places, .. } = &self.phase {
            let place = places.take().await?;
            let (parts, receiver) = mpsc::channel(CHUNKS_WAITING);
            let streamed = Phase::Streamed { parts, stall_max: places.stall_max, _place: place };
            if let Phase::Buffered { start, .. } = std::mem::replace(&mut self.phase, streamed) {
                start.send(receiver).map_err(|_| BodyError::Gone)?;
            }
        }
        let chunk = Bytes::from(std::mem::take(&mut self.bytes));
        self.send_part(Part::Chunk(chunk)).await
    }

    async fn send_part(&mut self, part: Part) -> Result<(), BodyError> {
        let Phase::Streamed { parts, stall_max, .. } = &self.phase else { return Ok(()) };
        match tokio::time::timeout(*stall_max, parts.send(part)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(BodyError::Gone),
            Err(_) => Err(BodyError::Stalled),
        }
    }

    /// Ends the answer: all of it, if nothing was sent yet; else nothing more than the end.
    pub(super) async fn end(mut self) -> Result<Bytes, BodyError> {
        if matches!(self.phase, Phase::Buffered { .. }) {
            return Ok(Bytes::from(self.bytes));
        }
        if !self.bytes.is_empty() {
            self.send().await?;
        }
        self.send_part(Part::End).await?;
        Ok(Bytes::new())
    }
}
