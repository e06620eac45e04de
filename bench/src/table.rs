//! The figures for people.

use crate::figure::{Better, Measured};
use crate::statistics::number;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Names, values, targets and notes.
pub(crate) fn of(measured: &[Measured]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["figure", "value", "unit", "target", "", "beside", "times as good", "note"]);
    for figure in measured {
        let kind = figure.kind;
        let target = kind.target.map_or_else(String::new, |target| {
            format!("{} {}", if kind.better == Better::Higher { "≥" } else { "≤" }, number(target))
        });
        let verdict = match kind.is_reached(figure.value) {
            Some(true) => "reached",
            Some(false) => "missed",
            None => "",
        };
        let beside = figure.peer.as_ref().map(|peer| format!("{}: {}", peer.name, number(peer.value)));
        let ratio = figure.ratio().map(number);
        table.add_row([
            kind.name,
            &number(figure.value),
            kind.unit,
            &target,
            verdict,
            beside.as_deref().unwrap_or_default(),
            ratio.as_deref().unwrap_or_default(),
            &figure.note,
        ]);
    }
    for column in [1, 3, 6] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}
