//! `stash keys`

mod create;
mod list;
mod revoke;
mod rotate_master;

/// What to do with keys.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Make an API key, and its account if it is new
    Create(create::Args),
    /// List the API keys
    List(list::Args),
    /// Revoke an API key; it stops working within seconds
    Revoke(revoke::Args),
    /// Replace the master key that wraps the keys of all content
    RotateMaster(rotate_master::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Create(args) => create::run(args).await,
        Command::List(args) => list::run(args).await,
        Command::Revoke(args) => revoke::run(args).await,
        Command::RotateMaster(args) => rotate_master::run(args).await,
    }
}
