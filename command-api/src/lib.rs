//! stash-command-api.
