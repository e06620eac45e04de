//! Commands about reward models.

pub mod create;
pub mod delete;
pub mod rename;
pub mod training;

use crate::commands::Rejection;
use crate::error::Code;
use crate::limits::NAME_CHARS_MAX;

fn bad(field: &str, what: impl std::fmt::Display) -> Rejection {
    Rejection::new(Code::InvalidField, format!("{field}: {what}"))
}

/// A model's name as it is kept: trimmed.
fn checked_name(name: &str) -> Result<String, Rejection> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
        return Err(bad("name", format_args!("must have 1 to {NAME_CHARS_MAX} characters")));
    }
    plain("name", name)?;
    Ok(name.to_owned())
}

/// Refuses control characters: NUL in particular, which Postgres cannot hold.
fn plain(field: &str, text: &str) -> Result<(), Rejection> {
    if text.chars().any(char::is_control) {
        return Err(bad(field, "must not hold control characters"));
    }
    Ok(())
}
