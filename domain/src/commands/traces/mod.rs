//! Commands about traces.

pub mod delete;
pub mod edit_title;
pub mod request_title;
