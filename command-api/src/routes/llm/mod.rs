//! Commands about what language models are used for.

pub mod switch;
