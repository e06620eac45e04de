//! The sample of the first start: traces of a made-up support agent, rated, learnt from and scored, all through the server's own
//! HTTP API, as anybody else would do it.
//!
//! It runs beside the server and never holds it up; when it fails, that is told and the server goes on.

use super::{BASE_NAME, Connection, ensure_base};
use crate::cli::{items, number, text, wait};
use crate::client::Client;
use crate::output::{self, Table, progress, shorten};
use crate::roles::Stop;
use crate::wiring::Foundation;
use anyhow::Context as _;
use futures::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// The traces, in the Stash Trace Format. `sample/make.py` writes both files.
const TRACES: &str = include_str!("../../sample/traces.jsonl");

/// What a person said about them.
const RATINGS: &str = include_str!("../../sample/ratings.jsonl");

/// Name of the model.
const MODEL: &str = "sample";

/// Passes over the pairs: enough for the small base to learn the sample's rules within half a minute.
const EPOCHS: u32 = 3;

/// Most pairs: about as many as the sample has, since pairs of the few held-out traces are rare among them.
const PAIRS_MAX: u32 = 700;

/// Best and worst actions that are shown.
const SHOWN: usize = 4;

/// Characters of an action.
const ACTION_CHARS: usize = 72;

/// A line of [`RATINGS`].
#[derive(Debug, Deserialize)]
struct Rating {
    trace: String,
    step: Option<i64>,
    rating: i64,
    comment: Option<String>,
}

/// Runs it, and tells how it went.
pub(crate) async fn run(foundation: &Foundation, connection: &Connection, stop: &Stop) {
    let Some(key) = &connection.new_key else { return };
    let outcome = tokio::select! {
        outcome = sample(foundation, &connection.url, key) => outcome,
        () = stop.asked() => return,
    };
    if let Err(error) = outcome {
        output::note(format_args!("The sample did not work out: {error:#}"));
        output::note("Stash itself runs on; `stash doctor` may say what is missing.");
    }
}

async fn sample(foundation: &Foundation, url: &str, key: &str) -> anyhow::Result<()> {
    let client = Client::new(url, key)?;
    output::note("First start: importing, rating and learning from sample traces. Stash can be used meanwhile.");
    ensure_base(&foundation.settings.data.folder).await?;
    let traces = import(&client).await.context("importing")?;
    rate(&client, &traces).await.context("rating")?;
    let body = json!({ "name": MODEL, "trace_ids": traces, "base_model": BASE_NAME, "epochs": EPOCHS, "max_pairs": PAIRS_MAX });
    let model = client.post("/reward-models", &body).await.context("asking for the training")?;
    let id = text(&model, "id").to_owned();
    let model = wait(&client, &format!("/reward-models/{id}"), "training").await?;
    report(&client, &traces, &model).await
}

/// Imports the traces; returns their ids.
async fn import(client: &Client) -> anyhow::Result<Vec<String>> {
    let bar = progress::bytes("importing", TRACES.len() as u64);
    let bytes = stream::iter([Ok::<_, std::io::Error>(TRACES.as_bytes())]);
    let key = uuid::Uuid::now_v7().to_string();
    let answer = client.upload_stream("/traces/import?format=stash", &key, None, TRACES.len() as u64, bytes).await;
    bar.finish_and_clear();
    let answer = answer?;
    let ids = items(&answer, "trace_ids").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    output::note(format_args!("imported {} traces", number(&answer, "imported")));
    Ok(ids)
}

/// Writes the ratings.
async fn rate(client: &Client, traces: &[String]) -> anyhow::Result<()> {
    // Ids of the steps of each trace, by its external id.
    let mut steps: HashMap<String, (String, Vec<String>)> = HashMap::new();
    for id in traces {
        let trace = client.get(&format!("/traces/{id}")).await?;
        let ids = items(&trace, "steps").iter().map(|step| text(step, "id").to_owned()).collect();
        steps.insert(text(&trace, "external_id").to_owned(), (id.clone(), ids));
    }
    let ratings: Vec<Rating> = RATINGS.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let bar = progress::count("rating", ratings.len() as u64);
    for rating in &ratings {
        let (trace, steps) = steps.get(&rating.trace).with_context(|| format!("no trace {}", rating.trace))?;
        let step = match rating.step {
            None => None,
            Some(index) => {
                Some(usize::try_from(index).ok().and_then(|index| steps.get(index)).context("no such step")?)
            }
        };
        let body = json!({ "step_id": step, "rating": rating.rating, "comment": rating.comment });
        client.post(&format!("/traces/{trace}/annotations"), &body).await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    output::note(format_args!("wrote {} ratings and comments", ratings.len()));
    Ok(())
}

/// An action and its credit.
struct Scored {
    credit: f64,
    trace: String,
    index: i64,
    said: String,
}

/// Shows what came of it.
async fn report(client: &Client, traces: &[String], model: &Value) -> anyhow::Result<()> {
    let id = text(model, "id");
    let mut actions = Vec::new();
    for trace in traces {
        let trace = client.get(&format!("/traces/{trace}")).await?;
        actions.extend(scored(&trace, id));
    }
    actions.sort_by(|a, b| b.credit.total_cmp(&a.credit));
    let count = actions.len();
    // The same words in several conversations are shown once.
    let mut seen = HashSet::new();
    actions.retain(|action| seen.insert(action.said.clone()));
    let figure = |name: &str| model.get("metrics").and_then(|metrics| metrics.get(name)).and_then(Value::as_f64);
    let accuracy =
        figure("eval_accuracy").map_or_else(String::new, |share| format!(", agreement on held-out pairs {share:.2}"));
    output::line(format_args!("The model learnt from {} pairs{accuracy}.", number(model, "num_pairs")))?;
    if actions.is_empty() {
        return output::line("It gave no action a credit.");
    }
    output::line(format_args!("Best and worst of {count} actions:\n"))?;
    let mut table = Table::new(&["credit", "trace", "step", "action"]);
    let worst = actions.len().saturating_sub(SHOWN).max(SHOWN);
    for action in actions.iter().take(SHOWN).chain(actions.iter().skip(worst)) {
        table.row(&[&format!("{:+.2}", action.credit), &action.trace, &action.index, &action.said]);
    }
    table.print()?;
    output::line("\nNext: `stash traces show external:sample-01`, `stash import FILE` for traces of your own.")
}

fn scored(trace: &Value, model: &str) -> Vec<Scored> {
    let steps: HashMap<&str, &Value> = items(trace, "steps").iter().map(|step| (text(step, "id"), step)).collect();
    let of_model = items(trace, "action_scores").iter().filter(|score| text(score, "reward_model_id") == model);
    let action = |score: &Value| {
        let step = steps.get(text(score, "step_id"))?;
        Some(Scored {
            credit: score.get("credit").and_then(Value::as_f64)?,
            trace: text(trace, "external_id").to_owned(),
            index: number(step, "index"),
            said: shorten(&crate::cli::said(step), ACTION_CHARS),
        })
    };
    of_model.filter_map(action).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rating_names_a_step_of_a_sample_trace() {
        let traces: HashMap<String, usize> = TRACES
            .lines()
            .map(|line| {
                let trace: Value = serde_json::from_str(line).unwrap();
                (text(&trace, "id").to_owned(), items(&trace, "steps").len())
            })
            .collect();
        let mut seen = HashSet::new();
        for line in RATINGS.lines() {
            let rating: Rating = serde_json::from_str(line).unwrap();
            let steps = traces[&rating.trace];
            assert!(rating.step.is_none_or(|step| usize::try_from(step).unwrap() < steps), "{line}");
            assert!([1, -1].contains(&rating.rating), "{line}");
            assert!(seen.insert((rating.trace, rating.step)), "{line} stands twice");
        }
    }
}
