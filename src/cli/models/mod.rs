//! `stash models`

mod add;
mod cancel;
mod delete;
mod list;
mod rename;
mod show;
mod wait;
mod weights;

pub(crate) use wait::wait;

/// What to do with reward models.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Add a base model to train from: of the Hugging Face hub, a folder or a GGUF file
    Add(add::Args),
    /// List reward models, or the base models on this machine
    List(list::Args),
    /// Show a model, its figures and how its training stands
    Show(show::Args),
    /// Fetch a model's checkpoint, or print a link to it
    Weights(weights::Args),
    /// Ask a training to stop
    Cancel(cancel::Args),
    /// Give a model another name
    Rename(rename::Args),
    /// Delete models with their scores and checkpoints
    Delete(delete::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Add(args) => add::run(args).await,
        Command::List(args) => list::run(args).await,
        Command::Show(args) => show::run(args).await,
        Command::Weights(args) => weights::run(args).await,
        Command::Cancel(args) => cancel::run(args).await,
        Command::Rename(args) => rename::run(args).await,
        Command::Delete(args) => delete::run(args).await,
    }
}
