//! JSON, in the two forms that Stash holds it in.
//!
//! - [`Json`] is a value as it was written, with its keys in their order: what importers read. What is kept as text (a tool's
//!   result that is JSON, say) must not be sorted.
//! - [`Value`] and [`Object`] are canonical, with each key once and in order: what a step or the head of a trace is made of.
//!
//! One becomes the other in the memory that it has. Both keep numbers in their digits, and take 32 bytes for a value and 24 for a
//! key beside their text: a value of serde_json takes 632 bytes for an object, whatever it holds, and traces are made of small
//! ones. [`parse`] makes values of text, and counts their parts before it takes memory for them.

mod object;
pub(crate) mod parse;
mod value;
mod written;

pub use object::{Fields, Object};
pub use value::Value;
pub use written::Json;
pub(crate) use written::take_field;
