//! A rendered text to token ids.
//!
//! Every segment of a text, and every newline that joins two, is tokenised by itself and the ids are concatenated. So
//! the tokens of an action text are a prefix of its trace's tokens, whatever the tokenizer merges, and a segment needs
//! to be tokenised once per base.
//!
//! Invariants:
//! - the ids of `<|im_start|>` and `<|im_end|>` appear exactly at a segment's ends: what looks like a special token
//!   inside a body is encoded as the plain characters it is;
//! - the last id of a text is never the pad id;
//! - cutting to the limit ([`window`]) drops from the left, to the token.

mod open;
mod segments;
mod window;

use std::path::Path;

use serde::{Deserialize, Serialize};
use tokenizers::Tokenizer;

pub use open::write_files;
pub use segments::{Piece, Segmented};
pub use window::{Truncation, Window, window};

use crate::error::ModelError;

/// Tokens of a text that a model reads, unless its manifest says otherwise.
pub const TOKEN_LIMIT: usize = 1024;
/// Opens a segment in a rendered text.
pub const SEGMENT_START: &str = "<|im_start|>";
/// Closes a segment in a rendered text.
pub const SEGMENT_END: &str = "<|im_end|>";

/// How a base sees a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The two ChatML markers are tokens of the base.
    Chatml,
    /// The base lacks them: a segment is `### {role}\n{body}\n`, all of it plain text.
    Plain,
}

/// The tokens of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Token ids, the base's leading token (if its config asks for one) included.
    pub ids: Vec<u32>,
    /// For each cut of the text, the number of ids up to and including it.
    pub ends: Vec<usize>,
}

impl Encoded {
    /// Index of the first id of the last segment, the one a score is for.
    pub fn target_start(&self) -> usize {
        self.ends.iter().rev().nth(1).copied().unwrap_or(0)
    }

    /// The ids cut to `limit`, from the left.
    pub fn window(&self, limit: usize) -> Window<'_> {
        window(&self.ids, self.target_start(), limit)
    }
}

/// A base's tokenizer, set up to encode rendered texts.
#[derive(Debug, Clone)]
pub struct TextTokenizer {
    /// Encodes bodies: the base's tokenizer without its added tokens.
    body: Tokenizer,
    markers: Option<Markers>,
    leading: Option<u32>,
    pad: SpecialToken,
    vocab_size: usize,
}

#[derive(Debug, Clone, Copy)]
struct Markers {
    start: u32,
    end: u32,
}

/// A special token of a base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecialToken {
    /// Its id.
    pub id: u32,
    /// Its text.
    pub text: String,
}

impl TextTokenizer {
    /// Opens the tokenizer of a model folder (`tokenizer.json`, and `tokenizer_config.json` and `config.json` where
    /// they are there).
    ///
    /// # Errors
    /// When a file is missing or malformed, the tokenizer has no token to pad with, or it would read a marker out of
    /// plain text.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        open::open(dir)
    }

    /// How segments are encoded.
    pub fn form(&self) -> Form {
        if self.markers.is_some() { Form::Chatml } else { Form::Plain }
    }

    /// The token to pad with; never the last of a text.
    pub fn pad(&self) -> &SpecialToken {
        &self.pad
    }

    /// The token that every text begins with, where the base asks for one.
    pub fn leading(&self) -> Option<u32> {
        self.leading
    }

    /// One more than the largest id.
    pub fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    /// Encodes a whole text, uncut.
    ///
    /// # Errors
    /// When the cuts do not describe the text.
    pub fn encode(&self, text: &Segmented<'_>) -> Result<Encoded, ModelError> {
        let mut encoded =
            Encoded { ids: self.leading.into_iter().collect(), ends: Vec::with_capacity(text.cuts.len()) };
        for piece in text.pieces(self.form()) {
            self.encode_piece(piece?, &mut encoded.ids)?;
            encoded.ends.push(encoded.ids.len());
        }
        if encoded.ends.is_empty() {
            return Err(ModelError::Segments("the text has no segment".to_owned()));
        }
        Ok(encoded)
    }

    /// Appends the ids of one segment or joining newline, which do not depend on what stands around it.
    ///
    /// # Errors
    /// When the tokenizer fails on the text, or yields a marker for it.
    pub fn encode_piece(&self, piece: Piece<'_>, ids: &mut Vec<u32>) -> Result<(), ModelError> {
        match (piece, self.markers) {
            (Piece::Newline, _) => self.encode_body("\n", ids),
            (Piece::Plain { text }, _) => self.encode_body(text, ids),
            (Piece::Marked { inner }, Some(markers)) => {
                ids.push(markers.start);
                self.encode_body(inner, ids)?;
                ids.push(markers.end);
                Ok(())
            }
            (Piece::Marked { .. }, None) => {
                Err(ModelError::Segments("a text in ChatML form, but the base lacks its markers".to_owned()))
            }
        }
    }

    fn encode_body(&self, body: &str, ids: &mut Vec<u32>) -> Result<(), ModelError> {
        let encoding = self.body.encode_fast(body, false).map_err(|e| ModelError::Tokenizer(e.to_string()))?;
        let body_ids = encoding.get_ids();
        if self.markers.is_some_and(|m| body_ids.contains(&m.start) || body_ids.contains(&m.end)) {
            return Err(ModelError::Tokenizer("plain text was read as a segment marker".to_owned()));
        }
        ids.extend_from_slice(body_ids);
        Ok(())
    }
}
