//! What an import says about its files: a line each while it runs, and at the end which could not be imported, and why.
//!
//! With `--json`, one array with an object per file, written as the files are done, so that it may be of any length.

use crate::cli::{items, number, text};
use crate::intake::{Found, Outcome};
use crate::output;
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Warnings and refusals shown per file; `--json` shows all that the server names.
const SHOWN_MAX: usize = 10;

/// Files named at the end; `--json` names all.
const NAMED_MAX: usize = 1000;

/// How many files came to which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Files that were imported.
    pub(crate) imported: usize,
    /// Those that were imported before.
    pub(crate) unchanged: usize,
    /// Those in folders that hold no traces.
    pub(crate) not_traces: usize,
    /// Those that could not be imported.
    pub(crate) failed: usize,
    /// Traces that were taken in.
    pub(crate) traces: i64,
    /// How many of them there were before.
    pub(crate) updated: i64,
}

/// Tells of files as they are done.
pub(crate) struct Report<'a> {
    json: bool,
    bar: &'a ProgressBar,
    tally: Tally,
    /// Objects written so far.
    written: usize,
    /// Files to name at the end.
    named: Vec<String>,
}

impl<'a> Report<'a> {
    /// Begins, above a bar.
    pub(crate) fn begin(json: bool, bar: &'a ProgressBar) -> anyhow::Result<Self> {
        if json {
            output::line("[")?;
        }
        Ok(Self { json, bar, tally: Tally::default(), written: 0, named: Vec::new() })
    }

    /// What came of the files so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Tells what became of a file.
    pub(crate) fn outcome(&mut self, file: &Found, outcome: Outcome) -> anyhow::Result<()> {
        let path = &file.path;
        match outcome {
            Outcome::Imported(answer) => {
                self.tally.imported += 1;
                self.tally.traces += number(&answer, "imported");
                self.tally.updated += number(&answer, "updated");
                self.tell(path, "imported", &answer, |lines| lines.extend(in_lines(path, &answer)))
            }
            Outcome::Unchanged => {
                self.tally.unchanged += 1;
                let said = file.named.then(|| format!("{}: unchanged since it was imported", path.display()));
                self.tell(path, "unchanged", &Value::Null, |lines| lines.extend(said))
            }
            // Folders of sessions hold other files too; one that was named was meant.
            Outcome::NotRecognised(error) if !file.named => {
                self.tally.not_traces += 1;
                self.name(path, &format!("{error:#}"));
                self.tell(path, "not_recognised", &reason(&error), |_| {})
            }
            Outcome::NotRecognised(error) | Outcome::Failed(error) => {
                self.tally.failed += 1;
                self.name(path, &format!("{error:#}"));
                self.tell(path, "failed", &reason(&error), |_| {})
            }
        }
    }

    /// Tells of a place that could not be looked at.
    pub(crate) fn fault(&mut self, path: &Path, reason: &str) -> anyhow::Result<()> {
        self.tally.failed += 1;
        self.name(path, reason);
        self.tell(path, "failed", &json!({ "reason": reason }), |_| {})
    }

    /// Ends with the count, and with the files that could not be imported.
    pub(crate) fn end(self) -> anyhow::Result<Tally> {
        self.bar.finish_and_clear();
        if self.json {
            output::line("]")?;
            return Ok(self.tally);
        }
        let Tally { imported, unchanged, not_traces, failed, traces, updated } = self.tally;
        if imported + unchanged + not_traces + failed > 1 {
            let parts = [(unchanged, "unchanged"), (not_traces, "not recognised"), (failed, "failed")];
            let others = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}"));
            let others: String = others.collect();
            let before = if updated > 0 { format!(", {updated} of them there before") } else { String::new() };
            output::line(format_args!("{traces} traces{before}; {imported} files imported{others}"))?;
        }
        for line in &self.named {
            output::note(line);
        }
        let unnamed = (not_traces + failed).saturating_sub(self.named.len());
        if unnamed > 0 {
            output::note(format_args!("and {unnamed} more"));
        }
        Ok(self.tally)
    }

    fn name(&mut self, path: &Path, reason: &str) {
        if self.named.len() < NAMED_MAX {
            let what = "not imported";
            self.named.push(format!("{what}: {}: {reason}", path.display()));
        }
    }

    fn tell(
        &mut self,
        path: &Path,
        state: &str,
        answer: &Value,
        lines: impl FnOnce(&mut Vec<String>),
    ) -> anyhow::Result<()> {
        let mut text = Vec::new();
        if self.json {
            let comma = if self.written > 0 { ",\n" } else { "" };
            text.push(format!("{comma}{}", serde_json::to_string(&object(path, state, answer))?));
            self.written += 1;
        } else {
            lines(&mut text);
        }
        self.bar.suspend(|| text.iter().try_for_each(output::line))
    }
}

/// A file's object: its path and state, and what the server answered.
pub(crate) fn object(path: &Path, state: &str, answer: &Value) -> Value {
    let mut object = Map::new();
    object.insert("file".to_owned(), path.to_string_lossy().into());
    object.insert("state".to_owned(), state.into());
    object.extend(answer.as_object().cloned().unwrap_or_default());
    Value::Object(object)
}

/// Why a file was not imported.
pub(crate) fn reason(error: &anyhow::Error) -> Value {
    json!({ "reason": format!("{error:#}") })
}

/// An imported file for people.
pub(crate) fn in_lines(file: &Path, answer: &Value) -> Vec<String> {
    let (imported, updated) = (number(answer, "imported"), number(answer, "updated"));
    let changed = if updated > 0 { format!(", {updated} of them there before") } else { String::new() };
    let mut lines = vec![format!("{}: {imported} traces ({}){changed}", file.display(), text(answer, "format"))];
    for (list, count, what) in [("skipped", "skipped_count", "left out"), ("warnings", "warning_count", "warnings")] {
        let count = number(answer, count);
        if count == 0 {
            continue;
        }
        lines.push(format!("  {count} {what}"));
        for issue in items(answer, list).iter().take(SHOWN_MAX) {
            lines.push(format!("    line {}: {}", number(issue, "line"), text(issue, "message")));
        }
    }
    lines
}
