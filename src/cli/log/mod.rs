//! `stash log`

mod info;
mod tail;

/// What to see of the log.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Where the log is, and how long
    Info(info::Args),
    /// The latest records: ids and kinds of events, no content
    Tail(tail::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Info(args) => info::run(args).await,
        Command::Tail(args) => tail::run(args).await,
    }
}
