//! Keys of subjects.
mod key;
pub use key::{KEY_BYTES, KEY_TAG_BYTES, SubjectKey};
