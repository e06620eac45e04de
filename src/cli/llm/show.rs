//! `stash llm show`

use crate::cli::Remote;
use crate::cli::remote::text;
use crate::output::{self, Table};
use serde_json::Value;
use stash_domain::llm::LlmPurpose;

/// Whose.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let uses = args.remote.client()?.get("/llm-processing").await?;
    print(&uses, args.remote.json)
}

/// Prints what holds.
pub(super) fn print(uses: &Value, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return output::json(uses);
    }
    let mut table = Table::new(&["use", "your account", "model"]);
    for purpose in LlmPurpose::ALL {
        let Some(one) = uses.get(purpose.name()) else { continue };
        let allowed = if one.get("allowed") == Some(&Value::Bool(false)) { "forbids it" } else { "allows it" };
        let model = Some(text(one, "model")).filter(|model| !model.is_empty()).unwrap_or("none is set up");
        table.row(&[&purpose.name(), &allowed, &model]);
    }
    table.print()
}
