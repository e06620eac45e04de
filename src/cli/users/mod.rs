//! `stash users`

mod create;
mod list;
mod switch;

use crate::wiring::Foundation;
use anyhow::bail;
use stash_infra::identity::Account;

/// What to do with accounts.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List the accounts
    List(list::Args),
    /// Make an account
    Create(create::Args),
    /// Switch reward models on for an account
    Enable(switch::Args),
    /// Switch reward models off for an account; its data are kept
    Disable(switch::Args),
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => list::run(args).await,
        Command::Create(args) => create::run(args).await,
        Command::Enable(args) => switch::run(args, true).await,
        Command::Disable(args) => switch::run(args, false).await,
    }
}

/// The account with this address.
pub(super) async fn account(foundation: &Foundation, email: &str) -> anyhow::Result<Account> {
    match foundation.identity.account_by_email(email).await? {
        Some(account) => Ok(account),
        None => bail!("there is no account {email:?}; `stash users list` shows all"),
    }
}
