//! stash-schemas.
