//! `stash export`

mod annotations;
mod pairs;
mod traces;
mod write;

/// What to export.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// All traces in the Stash Trace Format; importing them gives the same traces
    Traces(traces::Args),
    /// All annotations that are shown
    Annotations(annotations::Args),
    /// The pairs that the ratings make now, or exactly those that a model was trained on
    Pairs(pairs::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Traces(args) => traces::run(args).await,
        Command::Annotations(args) => annotations::run(args).await,
        Command::Pairs(args) => pairs::run(args).await,
    }
}
