//! The command line.

use std::path::PathBuf;
use std::time::Duration;

/// Measures a release build of Stash end to end, over HTTP, on data folders of its own.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "stash-bench", max_term_width = 110)]
pub(crate) struct Options {
    /// Only this figure; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// A short look at everything; the figures say little and are not kept
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seconds that each load of commands lasts [default: 60, or 3 with --quick]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Where the figures are kept [default: bench/results.json, or nowhere with --quick]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Folder of the programs to measure [default: that of this program]
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Option<PathBuf>,
}

impl Options {
    /// How long each load of commands lasts.
    pub(crate) fn load_time(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.quick { 3 } else { 60 }))
    }
}
