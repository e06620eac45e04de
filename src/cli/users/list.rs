//! `stash users list`

use crate::cli::Local;
use crate::output::{self, Table, local};
use serde_json::json;

/// Where.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let accounts = args.local.with(async |foundation| Ok(foundation.identity.accounts().await?)).await?;
    if args.local.json {
        let all: Vec<_> = accounts
            .iter()
            .map(|account| {
                json!({
                    "id": account.id,
                    "email": account.email,
                    "name": account.name,
                    "role": account.role.as_str(),
                    "reward_models_enabled": account.reward_models_enabled,
                    "created_at": account.created_at.to_rfc3339(),
                })
            })
            .collect();
        return output::json(&all);
    }
    if accounts.is_empty() {
        return output::line(
            "No accounts. `stash up` makes the operator's; `stash users create --email ADDRESS` makes another.",
        );
    }
    let mut table = Table::new(&["email", "name", "role", "reward models", "made", "id"]);
    for account in &accounts {
        table.row(&[
            &account.email,
            &account.name,
            &account.role.as_str(),
            &if account.reward_models_enabled { "on" } else { "off" },
            &local(&account.created_at.to_rfc3339()),
            &account.id,
        ]);
    }
    table.print()
}
