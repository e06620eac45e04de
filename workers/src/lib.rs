//! stash-workers.
