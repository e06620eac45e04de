//! Commands about scoring runs.

pub mod request;
