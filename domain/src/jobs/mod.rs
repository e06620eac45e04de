//! Rules of background work that are the same for every kind of job. The states a job goes through are the fold in
//! [`crate::views::job`].

pub mod result;
pub mod retry;
