//! `stash models list`

use crate::cli::Remote;
use crate::cli::remote::{number, text};
use crate::client::load_local;
use crate::output::{self, Table, local, shorten};
use crate::wiring::bases;
use crate::wiring::settings::Overrides;
use serde_json::Value;
use stash_model::config::ModelConfig;

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
    /// List the base models in the data folder of this machine instead
    #[arg(long)]
    bases: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    if args.bases {
        return list_bases(&args);
    }
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

fn list_bases(args: &Args) -> anyhow::Result<()> {
    let settings = load_local(Overrides { data: args.remote.data(), listen: None })?;
    let folders = bases(&settings);
    let names = stash_workers::bases::list(&folders);
    if args.remote.json {
        return output::json(&names);
    }
    if names.is_empty() {
        return output::line("No base models. `stash models add OWNER/NAME` fetches one from the Hugging Face hub.");
    }
    let mut table = Table::new(&["name", "family", "layers", "width", "tokens"]);
    for name in &names {
        let config = stash_workers::bases::find(&folders, name).map(|folder| ModelConfig::read(&folder));
        let row = match config {
            Some(Ok(config)) => [
                config.family.model_type().to_owned(),
                config.layers.to_string(),
                config.hidden_size.to_string(),
                config.vocab_size.to_string(),
            ],
            _ => ["cannot be read".to_owned(), String::new(), String::new(), String::new()],
        };
        let [family, layers, width, tokens] = &row;
        table.row(&[name, family, layers, width, tokens]);
    }
    table.print()
}
