//! Commands about annotations.

pub mod change;
pub mod create;
pub mod delete;

use stash_domain::annotation::AnnotationError;
use stash_domain::error::Code;
use stash_infra::http::Problem;

/// How a broken rule is answered.
fn rule_problem(error: AnnotationError) -> Problem {
    Problem::new(Code::BadAnnotation, error.to_string())
}

/// A text as it is kept: without NUL, which Postgres cannot hold. Imports drop it too.
fn without_nul(mut text: String) -> String {
    text.retain(|character| character != '\0');
    text
}
