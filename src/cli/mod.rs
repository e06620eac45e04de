//! The command line: a folder per noun, a file per verb.
//!
//! Four kinds of commands:
//! - the server (`up`, `serve`), which read the settings;
//! - those that talk to a server over HTTP ([`Remote`]);
//! - those that work on the database of a data folder, whether a server runs on it or not ([`Local`]): accounts, keys, the log,
//!   read models. They start the embedded Postgres for as long as they need it;
//! - those that need neither: `eval`, which asks a language model, and what looks at this machine.

mod annotate;
mod completions;
mod dead_letter;
mod doctor;
mod eval;
mod export;
mod import;
mod keys;
mod llm;
mod local;
mod log;
mod models;
mod openapi;
#[cfg(test)]
mod page;
mod projections;
mod remote;
mod score;
mod serve;
mod traces;
mod train;
mod up;
mod users;
mod watch;

pub(crate) use local::Local;
pub(crate) use models::wait;
pub(crate) use remote::{Remote, encode, items, number, text};
pub(crate) use traces::said;

use anyhow::Context as _;
use clap::{CommandFactory as _, Parser, Subcommand};

/// Learn from your agents' traces: import, annotate, train a reward model, see every action's credit.
#[derive(Parser)]
#[command(name = "stash", version, propagate_version = true, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start everything on this machine: server, Postgres, projector and worker
    Up(up::Args),
    /// Start one role of a deployment
    Serve(serve::Args),
    /// Import traces from files and folders
    Import(import::Args),
    /// Import what is in a folder and what grows there, until interrupted
    Watch(watch::Args),
    /// List, show and delete traces
    #[command(subcommand)]
    Traces(traces::Command),
    /// Rate or comment on a trace or one of its steps
    Annotate(annotate::Args),
    /// Train a reward model on rated traces
    Train(train::Args),
    /// Reward models: list, show, fetch weights, cancel; and the base models they are trained from
    #[command(subcommand)]
    Models(models::Command),
    /// Score a trace's actions with a trained model
    Score(score::Args),
    /// Write traces, annotations or pairs as JSON lines
    #[command(subcommand)]
    Export(export::Command),
    /// Try the model that judges what agents did on made-up cases; nothing of your traces is sent
    #[command(subcommand)]
    Eval(eval::Command),
    /// What language models may be used for on your content
    #[command(subcommand)]
    Llm(llm::Command),
    /// Accounts, on the database of a data folder
    #[command(subcommand)]
    Users(users::Command),
    /// API keys and the master key, on the database of a data folder
    #[command(subcommand)]
    Keys(keys::Command),
    /// Look at the event log
    #[command(subcommand)]
    Log(log::Command),
    /// Look at the read models, or rebuild them from the log
    #[command(subcommand)]
    Projections(projections::Command),
    /// Records that could not be applied
    #[command(subcommand)]
    DeadLetter(dead_letter::Command),
    /// Say what is missing on this machine and how to mend it
    Doctor(doctor::Args),
    /// Print the API's description (OpenAPI 3.1)
    Openapi,
    /// Print completions for a shell
    Completions(completions::Args),
}

/// Runs the command that the arguments name.
pub(crate) fn run() -> anyhow::Result<()> {
    let cli = Cli::parse();
    match cli.command {
        Command::Openapi => return openapi::run(),
        Command::Completions(args) => return completions::run(args, Cli::command()),
        _ => {}
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads can be started")?;
    let result = runtime.block_on(dispatch(cli.command));
    // A part that did not end in time, or a thread that reads a terminal, must not keep the process.
    runtime.shutdown_background();
    result
}

async fn dispatch(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Up(args) => up::run(args).await,
        Command::Serve(args) => serve::run(args).await,
        Command::Import(args) => import::run(args).await,
        Command::Watch(args) => watch::run(args).await,
        Command::Traces(command) => traces::run(command).await,
        Command::Annotate(args) => annotate::run(args).await,
        Command::Train(args) => train::run(args).await,
        Command::Models(command) => models::run(command).await,
        Command::Score(args) => score::run(args).await,
        Command::Export(command) => export::run(command).await,
        Command::Eval(command) => eval::run(command).await,
        Command::Llm(command) => llm::run(command).await,
        Command::Users(command) => users::run(command).await,
        Command::Keys(command) => keys::run(command).await,
        Command::Log(command) => log::run(command).await,
        Command::Projections(command) => projections::run(command).await,
        Command::DeadLetter(command) => dead_letter::run(command).await,
        Command::Doctor(args) => doctor::run(args).await,
        Command::Openapi | Command::Completions(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_defined_without_contradiction() {
        Cli::command().debug_assert();
    }
}
