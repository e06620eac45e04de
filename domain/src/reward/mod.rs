//! Arithmetic on the scores that a model gives.

pub mod calibration;
pub mod credit;
pub mod frame;
pub mod metrics;
