//! Arithmetic on the scores that a model gives.

pub mod frame;
