//! Tries the configured judge, or another one, on a suite.

use super::report::Report;
use crate::output::{AlreadyTold, progress};
use crate::wiring::settings::{Overrides, load};
use anyhow::Context as _;
use stash_domain::learning::evaluation::Case;
use stash_infra::clock::SystemClock;
use stash_infra::config::LlmSettings;
use stash_infra::llm::Llms;
use stash_workers::extraction::{Judge, try_judge};
use std::sync::Arc;

/// Which judge, and what is enough.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model, as provider/model [default: RM_LEARNING_MODEL]
    #[arg(long)]
    model: Option<String>,
    /// Share of the cases, from 0 to 1, that it must be right about; below it the command fails
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = share)]
    at_least: f64,
    /// Print JSON, for scripts
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(suite: &'static str, cases: Vec<Case>, args: Args) -> anyhow::Result<()> {
    let settings = load(Overrides::default())?.llm;
    let setting = LlmSettings::LEARNING_MODEL_NAME;
    let model = args.model.as_ref().or(settings.learning_model.as_ref());
    let model = model.with_context(|| format!("no model judges: {setting} is `none`; name one with --model"))?.clone();
    let judge = Judge {
        tokens_max: settings.learning_tokens_max,
        cost_microusd_max: settings.learning_cost_microusd_max,
        llm: Llms::new(settings, Arc::new(SystemClock))?.open(&model, None)?,
    };
    let total = cases.len();
    let bar = progress::count("asking the judge", total as u64);
    let outcome = try_judge(&judge, cases, |_| bar.inc(1)).await;
    bar.finish_and_clear();
    let (tried, spent) = outcome?;
    let report = Report { suite, model: &model, total, at_least: args.at_least, tried: &tried, spent };
    if args.json {
        report.json()?
    } else {
        report.table()?
    }
    if report.is_enough() { Ok(()) } else { Err(AlreadyTold.into()) }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "it should be a number from 0 to 1".to_owned())
}
