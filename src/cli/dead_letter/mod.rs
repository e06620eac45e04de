//! `stash dead-letter`

mod list;
mod replay;

/// What to do with records that could not be applied.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List them: where they are and why, never what they hold
    List(list::Args),
    /// Apply those that can be applied now, after what was wrong is mended
    Replay(replay::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => list::run(args).await,
        Command::Replay(args) => replay::run(args).await,
    }
}
