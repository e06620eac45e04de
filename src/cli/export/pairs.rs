//! `stash export pairs`

use super::write::To;
use crate::cli::remote::encode;

/// Which pairs, and where to.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model whose pairs to give, instead of those that the ratings make now
    #[arg(long, conflicts_with_all = ["max_pairs", "seed"])]
    model: Option<String>,
    /// Most pairs to make of the ratings
    #[arg(long)]
    max_pairs: Option<u32>,
    /// Seed of the choice among the possible pairs
    #[arg(long)]
    seed: Option<i64>,
    #[command(flatten)]
    to: To,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let mut query = Vec::new();
    query.extend(args.model.map(|model| format!("reward_model_id={}", encode(&model))));
    query.extend(args.max_pairs.map(|most| format!("max_pairs={most}")));
    query.extend(args.seed.map(|seed| format!("seed={seed}")));
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    args.to.write(&format!("/export/pairs{query}")).await
}
