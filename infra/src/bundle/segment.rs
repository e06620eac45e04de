//! The bytes of a segment: see the layout in [`super`].

use super::BundleError;
use crate::seal::{Purpose, SealError, seal_into};
use crate::subject_keys::SubjectKey;
use stash_domain::ids::SubjectId;
use uuid::Uuid;

const MAGIC: &[u8; 4] = b"STB\x01";
const SUBJECT_BYTES: usize = 16;
const LENGTH_BYTES: usize = 4;
const FRAME_HEADER_BYTES: usize = SUBJECT_BYTES + LENGTH_BYTES;

/// A segment being written.
#[derive(Debug)]
pub(super) struct SegmentWriter {
    bytes: Vec<u8>,
}

impl SegmentWriter {
    pub(super) fn new() -> Self {
        Self { bytes: MAGIC.to_vec() }
    }

    /// Its length so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has no frame yet.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.len() == MAGIC.len()
    }

    /// Takes its bytes and begins the next one, which gets as much room at once.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let mut next = Vec::with_capacity(self.bytes.len());
        next.extend_from_slice(MAGIC);
        std::mem::replace(&mut self.bytes, next)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Seals a frame at its end.
    pub(super) fn push(&mut self, key: &SubjectKey, purpose: Purpose, plain: &[u8]) -> Result<(), SealError> {
        let start = self.bytes.len();
        self.push_erased(key.subject());
        let sealed_at = self.bytes.len();
        let sealed = seal_into(key, purpose, plain, &mut self.bytes);
        // Frames are far shorter than 4 GiB, see FRAME_BYTES_MAX.
        let length = u32::try_from(self.bytes.len() - sealed_at).unwrap_or(u32::MAX);
        self.bytes[sealed_at - LENGTH_BYTES..sealed_at].copy_from_slice(&length.to_le_bytes());
        if sealed.is_err() {
            self.bytes.truncate(start);
        }
        sealed
    }

    /// Writes a frame of an erased subject.
    pub(super) fn push_erased(&mut self, subject: SubjectId) {
        self.bytes.extend_from_slice(subject.0.as_bytes());
        self.bytes.extend_from_slice(&[0; LENGTH_BYTES]);
    }
}

/// The frames of a segment, from an offset on.
pub(super) struct SegmentFrames<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> SegmentFrames<'a> {
    /// From the first frame on.
    ///
    /// # Errors
    /// [`BundleError::Damaged`] when it is no segment of ours.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, BundleError> {
        if bytes.starts_with(MAGIC) {
            Ok(Self { bytes, offset: MAGIC.len() })
        } else {
            Err(BundleError::Damaged("a segment does not begin with its mark"))
        }
    }

    /// From the frame at this offset on, which an earlier walk returned.
    pub(super) fn at(bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, offset }
    }

    /// Where the next frame begins.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// The next frame: its subject and sealed bytes; none at the end.
    ///
    /// # Errors
    /// [`BundleError::Damaged`] when it is cut.
    pub(super) fn next_frame(&mut self) -> Result<Option<(SubjectId, &'a [u8])>, BundleError> {
        let cut = BundleError::Damaged("a frame is cut");
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let Some((subject, rest)) = rest.split_first_chunk::<SUBJECT_BYTES>() else { return Err(cut) };
        let Some((length, rest)) = rest.split_first_chunk::<LENGTH_BYTES>() else { return Err(cut) };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some(sealed) = rest.get(..length) else { return Err(cut) };
        self.offset += FRAME_HEADER_BYTES + length;
        Ok(Some((SubjectId(Uuid::from_bytes(*subject)), sealed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn hostile_segments_end_in_an_error_or_in_their_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let segment = [&MAGIC[..], &bytes].concat();
            let mut frames = SegmentFrames::new(&segment).unwrap();
            let mut count = 0;
            while let Ok(Some((_, sealed))) = frames.next_frame() {
                prop_assert!(sealed.len() <= bytes.len());
                count += 1;
            }
            prop_assert!(count <= bytes.len() / FRAME_HEADER_BYTES);
        }
    }

    #[test]
    fn what_is_no_segment_is_refused() {
        assert!(SegmentFrames::new(b"").is_err());
        assert!(SegmentFrames::new(b"STB\x02").is_err());
    }
}
