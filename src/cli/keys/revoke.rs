//! `stash keys revoke`

use crate::cli::Local;
use crate::output;
use anyhow::bail;
use serde_json::json;
use stash_domain::ids::ApiKeyId;
use stash_infra::identity::ApiKey;

/// Which key.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its id, or its start as `stash keys list` shows it
    key: String,
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let revoked = args.local.with(async |foundation| {
        let mut found: Vec<ApiKey> = Vec::new();
        for account in foundation.identity.accounts().await? {
            found
                .extend(foundation.identity.keys(account.id).await?.into_iter().filter(|key| is_named(key, &args.key)));
        }
        let key = match found.as_slice() {
            [] => bail!("there is no API key {:?}; `stash keys list` shows all", args.key),
            [only] => only,
            [..] => bail!("several API keys begin so; name one by its id, as `stash keys list` shows it"),
        };
        let change = foundation.identity.revoke_key(key.account_id, key.id).await?;
        let changed = change.is_some();
        foundation.record_change(change).await;
        Ok((key.id, changed))
    });
    let (id, changed): (ApiKeyId, bool) = revoked.await?;
    if args.local.json {
        return output::json(&json!({ "id": id, "revoked": changed }));
    }
    output::line(if changed { "revoked" } else { "it was revoked already" })
}

fn is_named(key: &ApiKey, name: &str) -> bool {
    let start = name.trim_end_matches('…');
    key.id.to_string() == name || key.shown == start
}
