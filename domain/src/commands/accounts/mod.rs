//! Commands of an account about itself.

pub mod switch_llm;
