//! Workers: they take jobs from the log, train in a child process, score with ONNX Runtime, and say what came of it in one
//! record.
//!
//! - [`coordinator`]: the loop; [`claim`]: taking a job; [`reaper`]: attempts whose worker is gone
//! - [`jobs`]: what each kind of job does; [`extraction`]: what a training learns by asking a language model
//! - [`scoring`]: the engine that serves models
//! - [`titles`]: titles for traces that come without one, beside the jobs
//! - [`bases`]: base models on this machine; [`scratch`]: what attempts leave in the worker's folder
//!
//! A worker keeps nothing: what a job needs is read from the read models and the artifact store, what it makes is published in
//! the record that ends it, and a worker that dies leaves only a lease that expires.

pub mod bases;
pub mod claim;
pub mod context;
pub mod coordinator;
pub mod extraction;
pub mod jobs;
pub mod reaper;
pub mod scoring;
pub mod scratch;
pub mod titles;
