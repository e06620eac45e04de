//! The order of calls: by start, then end, then what the source says, then the shorter input, then id.

use serde::{Deserialize, Serialize};

/// Where a call stands among the others. Times may be coarse, so that the length of the input decides too: of calls that share
/// their history the later one has more of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) order: String,
    pub(super) turns: usize,
    pub(super) id: String,
}
