//! What the end-to-end harness and the micro-benchmarks share: a generated corpus, inputs of every format, and traces in memory.
//!
//! The harness itself is the program `stash-bench` (`make bench`); the micro-benchmarks stand in `benches/`
//! (`cargo bench -p stash-bench`). Nothing here is a test, and no test is timed: figures depend on the machine.

pub mod corpus;
pub mod inputs;
pub mod traces;
