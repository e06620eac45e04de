//! Projections: the log folded into the `rm_*` tables.
//!
//! What holds at every moment: a generation's tables are exactly the fold of the records below its checkpoints; each record was
//! applied once, in the transaction that moved its checkpoint; and a rebuild from the first record gives the same rows.
//! Nothing here appends to the log, and nothing else writes these tables.

mod admission;
mod batch;
mod checkpoint;
mod collect;
mod copy;
mod dead_letter;
pub mod digest;
mod error;
mod fresh;
mod isolate;
mod projector;
mod read_ahead;
mod read_models;
mod rebuild;
mod renew;
mod replay;
pub mod schema;
mod standby;

pub use collect::{CollectError, Collector};
pub use error::{ApplyError, ProjectionError};
pub use projector::{BATCH_RECORDS_MAX, Projector};
pub use read_models::Deps;
pub use rebuild::{OnDifference, Rebuilt, rebuild};
pub use renew::renew;
pub use replay::{Replayed, replay};
