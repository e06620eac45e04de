//! A rendered text as the pieces it is tokenised in.

use super::{Form, SEGMENT_END, SEGMENT_START};
use crate::error::ModelError;

/// A rendered text and where its pieces end.
///
/// Pieces alternate: a segment, the newline that joins it to the next, the next segment, and so on; the last is a
/// segment. A segment is `<|im_start|>{role}\n{body}<|im_end|>`, or `### {role}\n{body}\n` in the plain form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segmented<'a> {
    /// The text.
    pub text: &'a str,
    /// Byte offsets at which a segment or joining newline ends, ascending; the last is the text's length.
    pub cuts: &'a [u32],
}

/// One piece of a rendered text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A segment between the two markers.
    Marked {
        /// What stands between them: `{role}\n{body}`.
        inner: &'a str,
    },
    /// A segment of the plain form, whole.
    Plain {
        /// `### {role}\n{body}\n`.
        text: &'a str,
    },
    /// The newline between two segments.
    Newline,
}

impl<'a> Segmented<'a> {
    /// The pieces in order, of a text rendered in `form`. Each item is an error when the cut that ends it does not
    /// describe the text.
    pub fn pieces(&self, form: Form) -> impl Iterator<Item = Result<Piece<'a>, ModelError>> + use<'a> {
        let (text, cuts) = (self.text, self.cuts);
        let complete = cuts.last().map_or(text.is_empty(), |last| *last as usize == text.len());
        let unfinished = (!complete).then(|| Err(ModelError::Segments("the cuts do not end with the text".to_owned())));
        let mut begin = 0;
        let pieces = cuts.iter().enumerate().map(move |(index, cut)| {
            let end = *cut as usize;
            let piece = text.get(begin..end).ok_or_else(|| {
                ModelError::Segments(format!("cut {index} at byte {end} is out of order or inside a character"))
            })?;
            begin = end;
            if index % 2 == 1 { newline(piece, index) } else { segment(piece, form, index) }
        });
        unfinished.into_iter().chain(pieces)
    }
}

fn newline(piece: &str, index: usize) -> Result<Piece<'_>, ModelError> {
    if piece == "\n" {
        Ok(Piece::Newline)
    } else {
        Err(ModelError::Segments(format!("piece {index} should be the newline between two segments")))
    }
}

fn segment(piece: &str, form: Form, index: usize) -> Result<Piece<'_>, ModelError> {
    let segment = match form {
        Form::Chatml => piece
            .strip_prefix(SEGMENT_START)
            .and_then(|rest| rest.strip_suffix(SEGMENT_END))
            .map(|inner| Piece::Marked { inner }),
        Form::Plain => (piece.starts_with("### ") && piece.ends_with('\n')).then_some(Piece::Plain { text: piece }),
    };
    segment.ok_or_else(|| ModelError::Segments(format!("piece {index} is not a segment in the form {form:?}")))
}
