//! `stash import`

mod report;

use report::{Report, Tally};
pub(super) use report::{in_lines, object, reason};

use super::Remote;
use crate::intake::{self, ENDINGS, How, Intake};
use crate::output::{self, AlreadyTold, progress};
use anyhow::{Context as _, bail};
use std::path::PathBuf;

/// What to import.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, or folders whose files to take, those in folders below too; `.gz` and `.zst` are sent as they are
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    how: How,
    /// Import files again that were imported before and have not changed since
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let listing = intake::list(&args.paths);
    if listing.files.is_empty() && listing.faults.is_empty() {
        bail!("no files found; a folder's files are taken if they end in {}", ENDINGS.join(", "));
    }
    let mut intake = Intake::open(&args.remote, &args.how, args.again).await?;
    let bytes = listing.files.iter().map(|file| file.bytes).sum();
    let bar = progress::files("importing", bytes);
    let mut report = Report::begin(args.remote.json, &bar)?;
    let total = listing.files.len();
    for (number, file) in listing.files.iter().enumerate() {
        bar.set_message(format!("{number}/{total} files"));
        let outcome = intake.take(file, &bar).await.with_context(|| stopped(total - number, report.tally()))?;
        report.outcome(file, outcome)?;
    }
    for (path, reason) in &listing.faults {
        report.fault(path, reason)?;
    }
    let tally = report.end()?;
    if tally.failed > 0 {
        return Err(AlreadyTold.into());
    }
    if tally.traces > 0 && !args.remote.json {
        output::note("Next: `stash traces list`, then `stash annotate` some of them");
    }
    Ok(())
}

/// What was done before something that concerns all files came up.
fn stopped(left: usize, tally: &Tally) -> String {
    let done = tally.imported + tally.unchanged;
    format!("stopped after {done} files with {left} left; the same command goes on where this one stopped")
}
