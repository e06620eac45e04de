//! From steps to the text a model reads. Training, scoring, exports and reports use this and nothing else.
//!
//! Invariants, each with a property test in `tests/rendering.rs`:
//! - the text of an action is a prefix of the text of its trace, and of every later action's text;
//! - a text is cut into pieces (segment, newline, segment, …) that are tokenised one by one, so that tokens are a prefix too;
//! - a digest is the SHA-256 of the whole text in ChatML form, before any cutting, whatever form a model's base needs.
//!
//! The rules carry a version, recorded with every model, score and pair. Different rules are a new module beside [`v1`]: a
//! model can only be compared on texts rendered as in its training.

mod canonical;
mod digester;
pub mod v1;

pub use canonical::canonical_json;
pub(crate) use canonical::push_string;
pub use digester::Digester;
pub use v1::{Form, RenderedText, RenderedTrace, Revision, Segment, render_step};

/// Version of the rules in [`v1`].
pub const RENDERING_VERSION: u32 = 1;
