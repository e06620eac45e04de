//! `stash train`

use super::Remote;
use super::models::wait;
use super::remote::{items, text};
use crate::client::Client;
use crate::output;
use anyhow::bail;
use serde_json::{Value, json};
use stash_domain::commands::reward_models::training::{METHODS, SCHEDULES};
use std::collections::BTreeSet;

/// Traces that one model may be given, as the server has it.
const TRACES_MAX: usize = 10_000;

/// What to train on what.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["traces", "all_rated"])))]
pub(crate) struct Args {
    /// A name for people
    #[arg(long)]
    name: String,
    /// The traces to learn from: their ids
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TRACE")]
    traces: Vec<String>,
    /// Learn from all traces that have a rating on themselves or a step
    #[arg(long)]
    all_rated: bool,
    /// Base model; `stash/tiny` comes with `stash up` [default: the server's]
    #[arg(long)]
    base: Option<String>,
    /// Passes over the pairs [default: 1]
    #[arg(long)]
    epochs: Option<u32>,
    /// Most pairs to train on [default: 4000]
    #[arg(long)]
    max_pairs: Option<u32>,
    /// Peak learning rate [default: what suits the base]
    #[arg(long)]
    learning_rate: Option<f64>,
    /// `full`: every weight; `lora`: adapters, in less time and memory [default: full]
    #[arg(long, value_parser = METHODS)]
    method: Option<String>,
    /// Rank of adapters, up to 1024 [default: 16]
    #[arg(long)]
    lora_rank: Option<u32>,
    /// An adapter's product is multiplied by this over the rank [default: twice the rank]
    #[arg(long)]
    lora_alpha: Option<f64>,
    /// Pairs of an optimizer step, up to 4096 [default: 16]
    #[arg(long)]
    batch_pairs: Option<u32>,
    /// How the learning rate goes on after the warm-up [default: linear]
    #[arg(long, value_parser = SCHEDULES)]
    schedule: Option<String>,
    /// Share of the steps over which the learning rate rises [default: 0.05]
    #[arg(long)]
    warmup: Option<f64>,
    /// Weight decay of projections [default: 0.01]
    #[arg(long)]
    weight_decay: Option<f64>,
    /// The gradient is scaled down to this length [default: 1]
    #[arg(long)]
    clip_norm: Option<f64>,
    /// Keeps rewards around 0: coefficient of the square of the sum of a pair's rewards, such as 0.01 [default: 0]
    #[arg(long)]
    center: Option<f64>,
    /// Whether the token embedding stays as it is [default: true for a large base]
    #[arg(long)]
    freeze_embeddings: Option<bool>,
    /// Seed of every random choice [default: 0]
    #[arg(long)]
    seed: Option<i64>,
    /// Stay until the training has ended
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let traces = if args.all_rated { rated(&client).await? } else { args.traces };
    if traces.is_empty() {
        bail!("no trace has a rating yet; `stash annotate TRACE --rating +` gives one");
    }
    let body = json!({
        "name": args.name,
        "trace_ids": traces,
        "base_model": args.base,
        "epochs": args.epochs,
        "max_pairs": args.max_pairs,
        "learning_rate": args.learning_rate,
        "seed": args.seed,
        "training": {
            "method": args.method,
            "lora_rank": args.lora_rank,
            "lora_alpha": args.lora_alpha,
            "batch_pairs": args.batch_pairs,
            "schedule": args.schedule,
            "warmup": args.warmup,
            "weight_decay": args.weight_decay,
            "clip_norm": args.clip_norm,
            "center": args.center,
            "freeze_embeddings": args.freeze_embeddings,
        },
    });
    let mut model = client.post("/reward-models", &body).await?;
    if args.wait {
        model = wait(&client, &format!("/reward-models/{}", text(&model, "id")), &args.name).await?;
    }
    if args.remote.json {
        return output::json(&model);
    }
    output::line(format_args!("{}  {}", text(&model, "id"), text(&model, "status")))?;
    if !args.wait {
        output::note(format_args!("`stash models show {}` says how it stands", text(&model, "id")));
    }
    Ok(())
}

/// Ids of all traces with a rating.
async fn rated(client: &Client) -> anyhow::Result<Vec<String>> {
    let mut ids = BTreeSet::new();
    for rating in ["1", "-1"] {
        let mut cursor = String::new();
        loop {
            let page = client.get(&format!("/traces?limit=500&rating={rating}{cursor}")).await?;
            ids.extend(items(&page, "traces").iter().map(|trace| text(trace, "id").to_owned()));
            if ids.len() > TRACES_MAX {
                bail!("more than {TRACES_MAX} traces have ratings; name the ones to learn from with --traces");
            }
            match page.get("next_cursor").and_then(Value::as_str) {
                Some(next) => cursor = format!("&cursor={}", super::remote::encode(next)),
                None => break,
            }
        }
    }
    Ok(ids.into_iter().collect())
}
