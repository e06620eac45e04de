//! Bundles: a sequence of frames, each sealed under the key of its own subject, written and read in constant memory.
//!
//! A bundle is one segment inside the record, or one segment per blob:
//!
//! ```text
//! segment = "STB" 0x01, then frames up to its end
//! frame   = subject (16 bytes), length (4 bytes, little endian), sealed bytes (see `seal`)
//! ```
//!
//! - A frame never spans segments. A segment is closed once it has [`BLOB_BYTES_TARGET`] bytes, so a blob exceeds that only by
//!   its last frame; a bundle of one segment of at most [`INLINE_PAYLOAD_BYTES_MAX`] bytes stands in the record.
//! - Length 0 is a frame whose subject was erased before it was written. It keeps its place, because frames may be told by
//!   their index.
//! - The same frames under the same keys give the same segments, however they were pushed: a retried import finds its blobs.
//!
//! Memory, at most: the writer holds the frames it gathers, the frames being sealed, the open segment and one being stored; the
//! reader holds a segment, the next one, and two runs of opened frames. Each run has [`RUN_BYTES_TARGET`] and one frame.
//!
//! [`BLOB_BYTES_TARGET`]: stash_domain::limits::BLOB_BYTES_TARGET
//! [`INLINE_PAYLOAD_BYTES_MAX`]: stash_domain::limits::INLINE_PAYLOAD_BYTES_MAX

mod husk;
mod reader;
mod segment;
mod writer;

pub use husk::Husk;
pub use reader::{BundleReader, Frame};
pub use writer::BundleWriter;

use crate::artifacts::ArtifactError;
use crate::seal::SealError;
use crate::subject_keys::KeyError;
use stash_domain::limits::{BLOBS_PER_RECORD_MAX, STEP_BYTES_MAX};

/// Plain bytes of one frame. The largest holds one step, whose bytes JSON can make six times as many (`\u0001`); the rest is for
/// field names.
pub const FRAME_BYTES_MAX: usize = 6 * STEP_BYTES_MAX + 64 * 1024;

/// Plain bytes that are sealed, or opened, in one go away from the async runtime: about 2 ms of work, so that handing it over
/// costs little.
pub const RUN_BYTES_TARGET: usize = 1024 * 1024;

/// Frames of one run, for small ones.
const RUN_FRAMES_MAX: usize = 4096;

/// Why a bundle could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A frame has more than [`FRAME_BYTES_MAX`] plain bytes.
    #[error("a frame has {0} bytes and the limit is {FRAME_BYTES_MAX}")]
    FrameTooLarge(usize),
    /// The bundle needs more blobs than a record may point at.
    #[error("the content needs more than {BLOBS_PER_RECORD_MAX} blobs")]
    TooManyBlobs,
    /// A frame's key belongs to another owner than the bundle: a fault of the caller.
    #[error("a frame's key belongs to another owner than the bundle")]
    OtherOwner,
    /// What was read is not what a writer of ours wrote.
    #[error("the bundle is damaged: {0}")]
    Damaged(&'static str),
    /// A frame could not be sealed or opened.
    #[error("frame {index}: {source}")]
    Seal {
        /// Index of the frame in the bundle.
        index: u64,
        /// Why.
        source: SealError,
    },
    /// A blob could not be stored or fetched. [`ArtifactError::Missing`] and [`ArtifactError::Damaged`] name it.
    #[error(transparent)]
    Store(#[from] ArtifactError),
    /// Keys could not be fetched.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The process is shutting down, or the work panicked.
    #[error("background work of the bundle was stopped")]
    Stopped,
}

impl From<tokio::task::JoinError> for BundleError {
    fn from(_: tokio::task::JoinError) -> Self {
        Self::Stopped
    }
}
