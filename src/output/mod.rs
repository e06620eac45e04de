//! What commands print: results to standard output, everything about the work to standard error.

mod exit;
mod json;
pub(crate) mod progress;
pub(crate) mod screen;
mod table;
mod time;

pub(crate) use exit::{AlreadyTold, exit_code};
pub(crate) use json::json;
pub(crate) use table::{Table, shorten};
pub(crate) use time::local;

use std::io::Write as _;

/// Prints a line of the result. Unlike `println!` it fails, rather than panics, when the reader has gone.
pub(crate) fn line(text: impl std::fmt::Display) -> anyhow::Result<()> {
    writeln!(std::io::stdout().lock(), "{}", harmless(&text.to_string()))?;
    Ok(())
}

/// Prints a line about the work.
pub(crate) fn note(text: impl std::fmt::Display) {
    // Nobody reads it: then nobody misses it.
    let _ = writeln!(std::io::stderr().lock(), "{}", harmless(&text.to_string()));
}

/// A text that a terminal shows and does not obey: traces, titles and answers of servers are other people's, and may hold sequences
/// that move the cursor, rename the window or hide text.
fn harmless(text: &str) -> String {
    let orders = |char: char| match char {
        '\n' | '\t' => false,
        // These turn the direction of what follows, so that a line reads as another one.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        char => char.is_control(),
    };
    text.chars().map(|char| if orders(char) { char::REPLACEMENT_CHARACTER } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn what_is_printed_gives_no_orders_to_a_terminal() {
        assert_eq!(harmless("a\u{1b}]0;title\u{7}\tb\nc\u{9b}2J"), "a\u{fffd}]0;title\u{fffd}\tb\nc\u{fffd}2J");
        assert_eq!(harmless("safe\u{202e}live\u{2066}"), "safe\u{fffd}live\u{fffd}");
    }
}
