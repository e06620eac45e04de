//! What commands print: results to standard output, everything about the work to standard error.

mod exit;
mod json;
pub(crate) mod progress;
mod table;
mod time;

pub(crate) use exit::{AlreadyTold, exit_code};
pub(crate) use json::json;
pub(crate) use table::{Table, shorten};
pub(crate) use time::local;

use std::io::Write as _;

/// Prints a line of the result. Unlike `println!` it fails, rather than panics, when the reader has gone.
pub(crate) fn line(text: impl std::fmt::Display) -> anyhow::Result<()> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}

/// Prints a line about the work.
pub(crate) fn note(text: impl std::fmt::Display) {
    // Nobody reads it: then nobody misses it.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
