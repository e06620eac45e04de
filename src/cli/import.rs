//! `stash import`

use super::Remote;
use super::remote::{encode, items, number, text};
use crate::client::Client;
use crate::output::{self, progress};
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Files of one call, found in folders.
const FILES_MAX: usize = 100_000;

/// Folders below one that is named.
const DEPTH_MAX: usize = 32;

/// Warnings and refusals shown per file; `--json` shows all that the server names.
const SHOWN_MAX: usize = 10;

/// Endings of files that are taken from a folder.
const ENDINGS: &[&str] =
    &["jsonl", "json", "ndjson", "jsonl.gz", "json.gz", "ndjson.gz", "jsonl.zst", "json.zst", "ndjson.zst"];

/// What to import.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, or folders whose files to take; `.gz` and `.zst` are sent as they are
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of the files; `stash traces formats` lists them
    #[arg(long, default_value = "auto")]
    format: String,
    /// What a record in error does: fail its whole file, or be left out
    #[arg(long, default_value = "fail", value_parser = ["fail", "skip"])]
    on_error: String,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let files = expand(&args.files)?;
    if files.is_empty() {
        bail!("no files found; a folder's files are taken if they end in {}", ENDINGS.join(", "));
    }
    let path = format!("/traces/import?format={}&on_error={}", encode(&args.format), args.on_error);
    let mut answers = Vec::with_capacity(files.len());
    for file in &files {
        let answer = import(&client, &path, file).await.with_context(|| format!("{}", file.display()))?;
        if !args.remote.json {
            show(file, &answer)?;
        }
        answers.push(answer);
    }
    if args.remote.json {
        return output::json(&answers);
    }
    if answers.iter().any(|answer| number(answer, "imported") > 0) {
        output::note("Next: `stash traces list`, then `stash annotate` some of them");
    }
    Ok(())
}

async fn import(client: &Client, path: &str, file: &Path) -> anyhow::Result<Value> {
    let bytes = std::fs::metadata(file)?.len();
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("input");
    let bar = progress::bytes(name, bytes);
    let answer = client.upload(path, file, &bar).await;
    bar.finish_and_clear();
    answer
}

fn show(file: &Path, answer: &Value) -> anyhow::Result<()> {
    let (imported, updated) = (number(answer, "imported"), number(answer, "updated"));
    let changed = if updated > 0 { format!(", {updated} of them there before") } else { String::new() };
    output::line(format_args!("{}: {imported} traces ({}){changed}", file.display(), text(answer, "format")))?;
    for (list, count, what) in [("skipped", "skipped_count", "left out"), ("warnings", "warning_count", "warnings")] {
        let count = number(answer, count);
        if count == 0 {
            continue;
        }
        output::line(format_args!("  {count} {what}"))?;
        for issue in items(answer, list).iter().take(SHOWN_MAX) {
            output::line(format_args!("    line {}: {}", number(issue, "line"), text(issue, "message")))?;
        }
    }
    Ok(())
}

/// The files, and those in the folders, in the order of their names.
fn expand(places: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for place in places {
        if place.is_dir() {
            walk(place, 0, &mut files)?;
        } else {
            files.push(place.clone());
        }
    }
    Ok(files)
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if depth > DEPTH_MAX {
        bail!("{} lies too deep", folder.display());
    }
    let entries = std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        // Links are not followed, so there are no circles.
        let kind = entry.file_type()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            walk(&entry.path(), depth + 1, files)?;
        } else if kind.is_file() && ENDINGS.iter().any(|ending| name.ends_with(&format!(".{ending}"))) {
            files.push(entry.path());
        }
        if files.len() > FILES_MAX {
            bail!("more than {FILES_MAX} files; import them in parts");
        }
    }
    Ok(())
}
