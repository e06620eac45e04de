//! `stash llm`

mod show;
mod switch;

/// What to do about the use of language models.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Show what language models are used for on your content
    Show(show::Args),
    /// Allow uses
    Allow(switch::Args),
    /// Forbid uses: nothing more is sent for them
    Forbid(switch::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Show(args) => show::run(args).await,
        Command::Allow(args) => switch::run(args, true).await,
        Command::Forbid(args) => switch::run(args, false).await,
    }
}
