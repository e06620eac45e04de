//! `stash traces`

mod delete;
mod formats;
mod list;
mod show;
mod title;

pub(crate) use show::{said, show_actions};

/// What to do with traces.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List traces
    List(list::Args),
    /// Show a trace: its steps, what was said about it, its scores
    Show(show::Args),
    /// Give a trace a title, take it back, or ask a language model for one
    Title(title::Args),
    /// Delete traces, and shred the keys of their content
    Delete(delete::Args),
    /// List the formats that an import may be in
    Formats(formats::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => list::run(args).await,
        Command::Show(args) => show::run(args).await,
        Command::Title(args) => title::run(args).await,
        Command::Delete(args) => delete::run(args).await,
        Command::Formats(args) => formats::run(args).await,
    }
}
