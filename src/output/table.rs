//! Tables for eyes.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment};
use std::fmt::Display;

/// A table with a heading, columns set apart by spaces. Numbers stand on the right.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// An empty one with these headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING);
        table.set_header(headings.iter().map(|heading| heading.to_uppercase()));
        Self(table)
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: &[&dyn Display]) {
        self.0.add_row(cells.iter().map(|cell| {
            let text = cell.to_string();
            let number = text.starts_with(|first: char| first.is_ascii_digit() || first == '-' || first == '+')
                && text.parse::<f64>().is_ok();
            let alignment = if number { CellAlignment::Right } else { CellAlignment::Left };
            Cell::new(text).set_alignment(alignment)
        }));
    }

    /// Prints it.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        super::line(self.0.trim_fmt())
    }
}

/// The text on one line, cut to this many characters.
pub(crate) fn shorten(text: &str, chars_max: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= chars_max {
        return one_line;
    }
    let mut cut: String = one_line.chars().take(chars_max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_characters_and_put_on_one_line() {
        assert_eq!(shorten("a\n b\tc", 10), "a b c");
        assert_eq!(shorten("äöüäöü", 4), "äöü…");
        assert_eq!(shorten("äöü", 3), "äöü");
    }
}
