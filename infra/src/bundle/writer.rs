//! Writing a bundle.
//!
//! 1. [`BundleWriter::push`] gathers frames until a run is full.
//! 2. The run is sealed on a blocking thread, which appends it to the open segment and closes full segments. Meanwhile the
//!    caller makes the next run; it waits when that is full before this one is done.
//! 3. Closed segments are stored one at a time, while the next run is being sealed.

use super::segment::SegmentWriter;
use super::{BundleError, FRAME_BYTES_MAX, RUN_BYTES_TARGET, RUN_FRAMES_MAX};
use crate::artifacts::{ArtifactError, ArtifactStore};
use crate::seal::Purpose;
use crate::subject_keys::SubjectKey;
use bytes::Bytes;
use stash_domain::ids::{OwnerId, SubjectId};
use stash_domain::limits::{BLOB_BYTES_TARGET, BLOBS_PER_RECORD_MAX, INLINE_PAYLOAD_BYTES_MAX};
use stash_domain::sealed::{BlobRef, Bundle, Sealed};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A frame that waits to be sealed.
enum Pending {
    Plain(SubjectKey, Vec<u8>),
    Erased(SubjectId),
}

/// A run after sealing: the open segment, and the segments that it closed.
struct Sealing {
    open: SegmentWriter,
    closed: Vec<Vec<u8>>,
}

/// Writes one bundle. Dropping it before [`BundleWriter::finish`] leaves at most blobs that nothing points at, which the
/// collector removes.
///
/// After an error the bundle is lost: make it anew.
pub struct BundleWriter {
    store: Arc<dyn ArtifactStore>,
    owner: OwnerId,
    purpose: Purpose,
    gathered: Vec<Pending>,
    gathered_bytes: usize,
    open: Option<SegmentWriter>,
    sealing: Option<JoinHandle<Result<Sealing, BundleError>>>,
    storing: Option<JoinHandle<Result<BlobRef, ArtifactError>>>,
    blobs: Vec<BlobRef>,
    frames: u64,
}

impl BundleWriter {
    /// A bundle of this owner, without frames yet.
    pub fn new(store: Arc<dyn ArtifactStore>, owner: OwnerId, purpose: Purpose) -> Self {
        Self {
            store,
            owner,
            purpose,
            gathered: Vec::new(),
            gathered_bytes: 0,
            open: Some(SegmentWriter::new()),
            sealing: None,
            storing: None,
            blobs: Vec::new(),
            frames: 0,
        }
    }

    /// Appends a frame, to be sealed under its subject's key.
    ///
    /// # Errors
    /// [`BundleError`], also of frames pushed before.
    pub async fn push(&mut self, key: &SubjectKey, plain: Vec<u8>) -> Result<(), BundleError> {
        if key.owner() != self.owner {
            return Err(BundleError::OtherOwner);
        }
        if plain.len() > FRAME_BYTES_MAX {
            return Err(BundleError::FrameTooLarge(plain.len()));
        }
        self.gathered_bytes += plain.len();
        self.gather(Pending::Plain(key.clone(), plain)).await
    }

    /// Appends a frame of a subject whose key is gone, so that the frames after it keep their index.
    ///
    /// # Errors
    /// [`BundleError`] of frames pushed before.
    pub async fn push_erased(&mut self, subject: SubjectId) -> Result<(), BundleError> {
        self.gather(Pending::Erased(subject)).await
    }

    /// Frames pushed so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Stores what is still open. When it returns, every blob of the bundle is durable.
    ///
    /// # Errors
    /// [`BundleError`].
    pub async fn finish(mut self) -> Result<Bundle, BundleError> {
        self.seal_gathered().await?;
        self.join_sealing().await?;
        let open = self.open.take().unwrap_or_else(SegmentWriter::new);
        let mut inline = None;
        if !open.is_empty() {
            let nothing_stored = self.blobs.is_empty() && self.storing.is_none();
            if nothing_stored && open.len() <= INLINE_PAYLOAD_BYTES_MAX {
                inline = Some(Sealed(open.into_bytes()));
            } else {
                self.store_segment(open.into_bytes()).await?;
            }
        }
        self.join_storing().await?;
        let frames = i64::try_from(self.frames).unwrap_or(i64::MAX);
        Ok(Bundle { inline, blobs: self.blobs, frames })
    }

    async fn gather(&mut self, frame: Pending) -> Result<(), BundleError> {
        self.frames += 1;
        self.gathered.push(frame);
        if self.gathered_bytes >= RUN_BYTES_TARGET || self.gathered.len() >= RUN_FRAMES_MAX {
            self.seal_gathered().await?;
        }
        Ok(())
    }

    /// Begins to seal the gathered frames, once the run before them is done.
    async fn seal_gathered(&mut self) -> Result<(), BundleError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        self.join_sealing().await?;
        let run = std::mem::take(&mut self.gathered);
        self.gathered_bytes = 0;
        let open = self.open.take().ok_or(BundleError::Stopped)?;
        let (purpose, first) = (self.purpose, self.frames - run.len() as u64);
        self.sealing = Some(tokio::task::spawn_blocking(move || seal_run(open, run, purpose, first)));
        Ok(())
    }

    /// Waits for the run being sealed and hands on the segments that it closed.
    async fn join_sealing(&mut self) -> Result<(), BundleError> {
        let Some(handle) = &mut self.sealing else { return Ok(()) };
        let sealed = handle.await;
        self.sealing = None;
        let Sealing { open, closed } = sealed??;
        self.open = Some(open);
        for segment in closed {
            self.store_segment(segment).await?;
        }
        Ok(())
    }

    /// Begins to store a segment, once the one before it is stored.
    async fn store_segment(&mut self, segment: Vec<u8>) -> Result<(), BundleError> {
        self.join_storing().await?;
        if self.blobs.len() >= BLOBS_PER_RECORD_MAX {
            return Err(BundleError::TooManyBlobs);
        }
        let (store, owner) = (Arc::clone(&self.store), self.owner);
        self.storing = Some(tokio::spawn(async move { store.put_blob(owner, Bytes::from(segment)).await }));
        Ok(())
    }

    async fn join_storing(&mut self) -> Result<(), BundleError> {
        let Some(handle) = &mut self.storing else { return Ok(()) };
        let stored = handle.await;
        self.storing = None;
        self.blobs.push(stored??);
        Ok(())
    }
}

/// Appends a run to the open segment. Where segments close depends on the frames alone, never on how runs were cut.
fn seal_run(mut open: SegmentWriter, run: Vec<Pending>, purpose: Purpose, first: u64) -> Result<Sealing, BundleError> {
    let mut closed = Vec::new();
    for (index, frame) in (first..).zip(run) {
        match frame {
            Pending::Plain(key, plain) => {
                open.push(&key, purpose, &plain).map_err(|source| BundleError::Seal { index, source })?;
            }
            Pending::Erased(subject) => open.push_erased(subject),
        }
        if open.len() >= BLOB_BYTES_TARGET {
            closed.push(open.take());
        }
    }
    Ok(Sealing { open, closed })
}
