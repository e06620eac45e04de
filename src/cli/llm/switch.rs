//! `stash llm allow`, `stash llm forbid`

use super::show;
use crate::cli::Remote;
use serde_json::{Map, Value};
use stash_domain::llm::LlmPurpose;

/// Which uses.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// titles or learning
    #[arg(required = true, value_parser = purpose)]
    uses: Vec<LlmPurpose>,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args, allowed: bool) -> anyhow::Result<()> {
    let wanted: Map<String, Value> =
        args.uses.iter().map(|purpose| (purpose.name().to_owned(), Value::Bool(allowed))).collect();
    let uses = args.remote.client()?.patch("/llm-processing", &wanted).await?;
    show::print(&uses, args.remote.json)
}

fn purpose(text: &str) -> Result<LlmPurpose, String> {
    let names = || LlmPurpose::ALL.map(LlmPurpose::name).join(" or ");
    LlmPurpose::parse(text).ok_or_else(|| format!("it should be {}", names()))
}
