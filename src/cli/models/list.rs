//! `stash models list`

use crate::cli::Remote;
use crate::cli::remote::{number, text};
use crate::output::{self, Table, local, shorten};
use serde_json::Value;

/// Characters of a name.
const NAME_CHARS: usize = 40;

/// How many.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many, 1 to 500
    #[arg(long, default_value_t = 20)]
    limit: u16,
    /// How many to pass over
    #[arg(long, default_value_t = 0)]
    offset: u64,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let models = client.get(&format!("/reward-models?limit={}&offset={}", args.limit, args.offset)).await?;
    if args.remote.json {
        return output::json(&models);
    }
    let models = models.as_array().map_or(&[] as &[Value], Vec::as_slice);
    if models.is_empty() {
        return output::line(
            "No reward models. `stash train --name NAME --all-rated` makes one of the traces with ratings.",
        );
    }
    let mut table = Table::new(&["id", "name", "status", "base", "pairs", "accuracy", "asked for"]);
    for model in models {
        let figure = |name: &str| model.get("metrics").and_then(|metrics| metrics.get(name)).and_then(Value::as_f64);
        let pairs = number(model, "num_pairs");
        table.row(&[
            &text(model, "id"),
            &shorten(text(model, "name"), NAME_CHARS),
            &text(model, "status"),
            &text(model, "base_model"),
            &if pairs > 0 { pairs.to_string() } else { String::new() },
            &figure("eval_accuracy").map(|share| format!("{share:.3}")).unwrap_or_default(),
            &local(text(model, "created_at")),
        ]);
    }
    table.print()
}
