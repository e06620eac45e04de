//! Reading a bundle.
//!
//! 1. A segment is fetched, and the next one after it is begun.
//! 2. The keys of all its subjects are fetched at once.
//! 3. Its frames are opened in runs on a blocking thread, one run ahead of the caller.

use super::segment::SegmentFrames;
use super::{BundleError, FRAME_BYTES_MAX, RUN_BYTES_TARGET, RUN_FRAMES_MAX};
use crate::artifacts::{ArtifactError, ArtifactStore};
use crate::seal::{Purpose, open_bytes};
use crate::subject_keys::{KeySource, SubjectKey};
use bytes::Bytes;
use stash_domain::ids::{OwnerId, SubjectId};
use stash_domain::limits::BLOBS_PER_RECORD_MAX;
use stash_domain::sealed::{BlobRef, Bundle, Opened};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A frame of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its place in the bundle, from 0.
    pub index: u64,
    /// The subject under whose key it is sealed.
    pub subject: SubjectId,
    /// Its plain bytes; redacted when the subject's key is gone.
    pub content: Opened<Vec<u8>>,
}

/// A segment with the keys of its frames.
#[derive(Clone)]
struct Segment {
    bytes: Bytes,
    keys: Arc<HashMap<SubjectId, SubjectKey>>,
}

/// Opened frames, and where the segment goes on; none at its end.
struct Run {
    frames: VecDeque<Frame>,
    next: Option<usize>,
}

/// Reads one bundle from its first frame to its last.
pub struct BundleReader {
    keys: Arc<dyn KeySource>,
    store: Arc<dyn ArtifactStore>,
    owner: OwnerId,
    purpose: Purpose,
    expected_frames: u64,
    inline: Option<Bytes>,
    blobs: VecDeque<BlobRef>,
    fetching: Option<JoinHandle<Result<Bytes, BundleError>>>,
    segment: Option<Segment>,
    opening: Option<JoinHandle<Result<Run, BundleError>>>,
    ready: VecDeque<Frame>,
    /// Frames opened so far: the index of the next one.
    opened: u64,
}

impl BundleReader {
    /// A reader before the first frame. Nothing is fetched yet.
    ///
    /// # Errors
    /// [`BundleError::Damaged`] when the bundle contradicts itself.
    pub fn open(
        keys: Arc<dyn KeySource>,
        store: Arc<dyn ArtifactStore>,
        owner: OwnerId,
        purpose: Purpose,
        bundle: Bundle,
    ) -> Result<Self, BundleError> {
        let Ok(expected_frames) = u64::try_from(bundle.frames) else {
            return Err(BundleError::Damaged("its number of frames is negative"));
        };
        if bundle.inline.is_some() && !bundle.blobs.is_empty() {
            return Err(BundleError::Damaged("it stands both in the record and in blobs"));
        }
        if bundle.blobs.len() > BLOBS_PER_RECORD_MAX {
            return Err(BundleError::TooManyBlobs);
        }
        Ok(Self {
            keys,
            store,
            owner,
            purpose,
            expected_frames,
            inline: bundle.inline.map(|sealed| Bytes::from(sealed.0)),
            blobs: bundle.blobs.into(),
            fetching: None,
            segment: None,
            opening: None,
            ready: VecDeque::new(),
            opened: 0,
        })
    }

    /// The next frame; none after the last. Cancelling the call loses nothing. After an error the reader is of no more use.
    ///
    /// # Errors
    /// [`BundleError`]; a missing key is none, but gives a redacted frame.
    pub async fn next(&mut self) -> Result<Option<Frame>, BundleError> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Ok(Some(frame));
            }
            if let Some(handle) = &mut self.opening {
                let run = handle.await;
                self.opening = None;
                self.take_run(run??);
            } else if let Some(segment) = self.next_segment().await? {
                let start = SegmentFrames::new(&segment.bytes)?.offset();
                self.segment = Some(segment);
                self.open_run(start);
            } else if self.opened == self.expected_frames {
                return Ok(None);
            } else {
                return Err(BundleError::Damaged("its number of frames is not the one in the record"));
            }
        }
    }

    fn take_run(&mut self, run: Run) {
        self.opened += run.frames.len() as u64;
        self.ready = run.frames;
        match run.next {
            Some(offset) => self.open_run(offset),
            None => self.segment = None,
        }
    }

    fn open_run(&mut self, offset: usize) {
        let Some(segment) = self.segment.clone() else { return };
        let (purpose, first) = (self.purpose, self.opened);
        self.opening = Some(tokio::task::spawn_blocking(move || open_run(&segment, offset, purpose, first)));
    }

    /// The next segment with its keys; none after the last.
    async fn next_segment(&mut self) -> Result<Option<Segment>, BundleError> {
        if self.inline.is_none() {
            self.begin_fetch();
        }
        // Until the keys are there the bytes stay where they are, so that a cancelled call loses nothing.
        let bytes = match (&self.inline, &mut self.fetching) {
            (Some(bytes), _) => bytes.clone(),
            (None, Some(handle)) => {
                let bytes = handle.await;
                self.fetching = None;
                let bytes = bytes??;
                self.inline = Some(bytes.clone());
                bytes
            }
            (None, None) => return Ok(None),
        };
        let keys = Arc::new(self.keys.get(self.owner, &subjects(&bytes)?).await?);
        self.inline = None;
        self.begin_fetch();
        Ok(Some(Segment { bytes, keys }))
    }

    /// Begins to fetch the next blob, if there is one and none is being fetched.
    fn begin_fetch(&mut self) {
        if self.fetching.is_none()
            && let Some(blob) = self.blobs.pop_front()
        {
            let (store, keys, owner) = (Arc::clone(&self.store), Arc::clone(&self.keys), self.owner);
            self.fetching = Some(tokio::spawn(async move {
                match store.get_blob(owner, blob).await {
                    // Its content was erased, and it was collected since; or it is lost.
                    Err(missing @ ArtifactError::Missing(_)) => {
                        keys.husk(owner, blob.digest).await?.map(Bytes::from).ok_or(missing.into())
                    }
                    found => Ok(found?),
                }
            }));
        }
    }
}

/// The subjects of a segment, each once.
fn subjects(bytes: &[u8]) -> Result<Vec<SubjectId>, BundleError> {
    let mut frames = SegmentFrames::new(bytes)?;
    let mut subjects = Vec::new();
    while let Some((subject, sealed)) = frames.next_frame()? {
        // A trace's frames follow each other, so this alone keeps the list short.
        if !sealed.is_empty() && subjects.last() != Some(&subject) {
            subjects.push(subject);
        }
    }
    subjects.sort_unstable();
    subjects.dedup();
    Ok(subjects)
}

/// Opens frames until a run is full or the segment ends.
fn open_run(segment: &Segment, offset: usize, purpose: Purpose, first: u64) -> Result<Run, BundleError> {
    let mut walk = SegmentFrames::at(&segment.bytes, offset);
    let mut frames = VecDeque::new();
    let mut run_bytes = 0;
    while run_bytes < RUN_BYTES_TARGET && frames.len() < RUN_FRAMES_MAX {
        let Some((subject, sealed)) = walk.next_frame()? else { return Ok(Run { frames, next: None }) };
        let index = first + frames.len() as u64;
        let content = if sealed.is_empty() {
            Opened::Redacted
        } else {
            open_bytes(segment.keys.get(&subject), purpose, sealed, FRAME_BYTES_MAX)
                .map_err(|source| BundleError::Seal { index, source })?
        };
        if let Opened::Clear(plain) = &content {
            run_bytes += plain.len();
        }
        frames.push_back(Frame { index, subject, content });
    }
    Ok(Run { frames, next: Some(walk.offset()) })
}
