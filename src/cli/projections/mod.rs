//! `stash projections`

mod rebuild;
mod status;

/// What to do with the read models.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// How far the read models are behind the log
    Status(status::Args),
    /// Build the read models anew from the log, compare, and switch to them
    Rebuild(rebuild::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Status(args) => status::run(args).await,
        Command::Rebuild(args) => rebuild::run(args).await,
    }
}
