//! What is left of a segment once all of its content is erased: the same frames, in their places, with nothing in them.

use super::BundleError;
use super::segment::{SegmentFrames, SegmentWriter};
use stash_domain::ids::SubjectId;

/// A segment without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Husk {
    /// The subjects whose content it had, each once.
    pub subjects: Vec<SubjectId>,
    /// A segment of the same frames, all of them erased.
    pub bytes: Vec<u8>,
}

impl Husk {
    /// That of a segment.
    ///
    /// # Errors
    /// [`BundleError::Damaged`] when it is none.
    pub fn of(segment: &[u8]) -> Result<Self, BundleError> {
        let mut frames = SegmentFrames::new(segment)?;
        let (mut subjects, mut husk) = (Vec::new(), SegmentWriter::new());
        while let Some((subject, sealed)) = frames.next_frame()? {
            if !sealed.is_empty() && subjects.last() != Some(&subject) {
                subjects.push(subject);
            }
            husk.push_erased(subject);
        }
        subjects.sort_unstable();
        subjects.dedup();
        Ok(Self { subjects, bytes: husk.into_bytes() })
    }
}
