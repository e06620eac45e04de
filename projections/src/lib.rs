//! stash-projections.
