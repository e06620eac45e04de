//! `stash users create`

use crate::cli::Local;
use crate::output;
use anyhow::bail;
use serde_json::json;
use stash_infra::identity::{NewAccount, Role};

/// Who.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Address
    #[arg(long)]
    email: String,
    /// Name for people
    #[arg(long, default_value = "")]
    name: String,
    /// Let the account run the deployment, not only use it
    #[arg(long)]
    operator: bool,
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let role = if args.operator { Role::Operator } else { Role::User };
    let new = NewAccount { email: args.email.clone(), name: args.name.clone(), role };
    let account = args.local.with(async |foundation| {
        let (account, change) = foundation.identity.create_account_if_new(&new).await?;
        if change.is_none() {
            bail!("there is an account {:?} already", account.email);
        }
        foundation.record_change(change).await;
        Ok(account)
    });
    let account = account.await?;
    if args.local.json {
        return output::json(&json!({ "id": account.id, "email": account.email, "role": account.role.as_str() }));
    }
    output::line(format_args!("made {}", account.email))?;
    output::note(format_args!("Next: `stash keys create --owner {}` makes an API key for it", account.email));
    Ok(())
}
