//! The wire form of the log: Avro single-object encoding, one schema file per event and version, and the only door in and out.
//!
//! - [`encode_record`] and [`decode_record`] turn a [`Record`](stash_domain::record::Record) into the bytes of one log record and
//!   back; [`encode_text`] and [`decode_text`] do the same for the text of an annotation, which is sealed before it is logged.
//! - A reader finds the writer's schema by the fingerprint in the bytes, among the files of this folder, which are built into
//!   the crate ([`sources`]). Older versions are brought to the newest by [`upcast`].
//! - A schema file is never edited once it has landed; [`gates`] hold that and all other rules of change, and
//!   `docs/how-to/change-an-event.md` says how a change is made.
//!
//! Bytes that come in may be damaged or hostile: nothing here panics on them, recurses on their word or allocates more than
//! [`registry::AVRO_ALLOCATION_BYTES_MAX`] because a length field says so.

mod decode;
mod encode;
mod envelope;
pub mod error;
mod events;
pub mod fingerprint;
pub mod gates;
pub mod registry;
pub mod sources;
#[cfg(feature = "testing")]
pub mod testing;
pub mod upcast;

pub use decode::{decode_record, decode_text};
pub use encode::{encode_record, encode_text};
pub use envelope::EVENTS_PER_APPEND_MAX;
pub use error::CodecError;
