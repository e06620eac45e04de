//! Two small suites of made-up conversations that a judge is tried on, with all four criteria.
//!
//! - [`feedback`]: whether it finds what people said, and only that: indirect criticism, approval, irony, mixed outcomes, nothing to
//!   find, and texts that want to be obeyed.
//! - [`learning`]: whether it judges actions that nobody has spoken about.
//!
//! They are too few to say how often a judge is right on other people's traces. They show a judge that is not up to it.

mod case;
pub mod feedback;
pub mod learning;

pub use case::{Case, Expected, Fault};
