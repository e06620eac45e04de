//! stash-query-api.
