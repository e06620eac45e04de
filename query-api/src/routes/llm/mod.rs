//! Reads about language models.

pub(crate) mod processing;
