//! `stash users enable`, `stash users disable`

use crate::cli::Local;
use crate::output;
use serde_json::json;

/// Whom.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The account's address
    email: String,
    #[command(flatten)]
    local: Local,
}

pub(super) async fn run(args: Args, enabled: bool) -> anyhow::Result<()> {
    let changed = args.local.with(async |foundation| {
        let account = super::account(foundation, &args.email).await?;
        let change = foundation.identity.set_reward_models_enabled(account.id, enabled).await?;
        let changed = change.is_some();
        foundation.record_change(change).await;
        Ok(changed)
    });
    let changed = changed.await?;
    if args.local.json {
        return output::json(&json!({ "email": args.email, "reward_models_enabled": enabled, "changed": changed }));
    }
    let state = if enabled { "on" } else { "off" };
    let note = if changed { "are now" } else { "were already" };
    output::line(format_args!("reward models {note} {state} for {}", args.email))
}
