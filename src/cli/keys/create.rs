//! `stash keys create`

use crate::cli::Local;
use crate::first_start::OPERATOR;
use crate::output;
use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::json;
use stash_domain::time::Timestamp as Moment;
use stash_infra::identity::{NewAccount, NewKey, Role, Scope};

/// For whom, and for what.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Address of the account; made, with the role of a user, if it is new
    #[arg(long, value_name = "EMAIL", default_value = OPERATOR)]
    owner: String,
    /// What the key may do
    #[arg(long, value_parser = ["full", "read-only"], default_value = "full")]
    scope: String,
    /// Name for people
    #[arg(long, default_value = "")]
    name: String,
    /// When the key stops working by itself, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME")]
    expires: Option<Timestamp>,
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let scope = Scope::parse(&args.scope).context("unknown scope")?;
    let role = if args.owner == OPERATOR { Role::Operator } else { Role::User };
    let made = args.local.with(async |foundation| {
        let identity = &foundation.identity;
        let new = NewAccount { email: args.owner.clone(), name: String::new(), role };
        let (account, change) = identity.create_account_if_new(&new).await?;
        foundation.record_change(change).await;
        let new = NewKey {
            account_id: account.id,
            scope,
            name: args.name.clone(),
            expires_at: args.expires.map(|time| Moment(time.as_microsecond())),
        };
        let (text, key, change) = identity.create_key(&new).await?;
        foundation.record_change(Some(change)).await;
        Ok((text, key, account))
    });
    let (text, key, account) = made.await?;
    if args.local.json {
        return output::json(&json!({
            "key": text.expose(),
            "id": key.id,
            "owner": account.email,
            "owner_id": account.id,
            "scope": key.scope.as_str(),
        }));
    }
    output::line(text.expose())?;
    output::note(format_args!("{} key of {}, shown once", key.scope.as_str(), account.email));
    Ok(())
}
