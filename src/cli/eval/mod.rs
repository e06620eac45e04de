//! `stash eval`

mod judge;
mod report;

use stash_domain::learning::evaluation::{feedback, learning};

/// What to try the judge on.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Whether it finds what people say about an agent's actions, and takes nothing else for it
    Feedback(judge::Args),
    /// Whether it judges actions that nobody has spoken about
    Learning(judge::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Feedback(args) => judge::run("feedback", feedback::suite(), args).await,
        Command::Learning(args) => judge::run("learning", learning::suite(), args).await,
    }
}
