//! `stash keys list`

use crate::cli::Local;
use crate::cli::users::account;
use crate::output::{self, Table, local};
use serde_json::json;
use stash_domain::time::Timestamp;
use stash_infra::identity::ApiKey;

/// Whose.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Address of the account; without it, of all
    #[arg(long, value_name = "EMAIL")]
    owner: Option<String>,
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let keys = args.local.with(async |foundation| {
        let accounts = match &args.owner {
            Some(email) => vec![account(foundation, email).await?],
            None => foundation.identity.accounts().await?,
        };
        let mut keys = Vec::new();
        for account in accounts {
            let of_account = foundation.identity.keys(account.id).await?;
            keys.extend(of_account.into_iter().map(|key| (account.email.clone(), key)));
        }
        Ok(keys)
    });
    let keys = keys.await?;
    let time = |time: Option<Timestamp>| time.map(Timestamp::to_rfc3339);
    if args.local.json {
        let all: Vec<_> = keys
            .iter()
            .map(|(owner, key)| {
                json!({
                    "id": key.id,
                    "owner": owner,
                    "name": key.name,
                    "starts_with": key.shown,
                    "scope": key.scope.as_str(),
                    "created_at": key.created_at.to_rfc3339(),
                    "last_used_at": time(key.last_used_at),
                    "expires_at": time(key.expires_at),
                    "revoked_at": time(key.revoked_at),
                })
            })
            .collect();
        return output::json(&all);
    }
    if keys.is_empty() {
        return output::line("No API keys. `stash keys create` makes one.");
    }
    let mut table = Table::new(&["key", "owner", "name", "scope", "state", "last used", "id"]);
    for (owner, key) in &keys {
        let used = time(key.last_used_at).map_or_else(|| "never".to_owned(), |time| local(&time));
        let shown = format!("{}…", key.shown);
        table.row(&[&shown, owner, &key.name, &key.scope.as_str(), &state(key), &used, &key.id]);
    }
    table.print()
}

fn state(key: &ApiKey) -> &'static str {
    let now = Timestamp(jiff::Timestamp::now().as_microsecond());
    match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(expires)) if expires <= now => "expired",
        _ => "works",
    }
}
