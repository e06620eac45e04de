//! An account that keeps trainings going, so that there is always a worker at work and a trainer to kill.

use super::client::{Change, Client, Seen};
use super::site::{Account, BASE, Site};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Rated traces that the models learn from.
const TRACES: usize = 12;

/// Trainings asked for and not ended at one time: one that runs, and others for when it pauses after a kill.
const OPEN_MAX: usize = 4;

/// Passes over the pairs: a training of some seconds.
const EPOCHS: u32 = 40;

/// How long the last trainings may take to end once nothing is killed any more.
const END_MAX: Duration = Duration::from_secs(300);

/// Pause between looks at the models.
const LOOK: Duration = Duration::from_millis(300);

/// The account and what it has asked for.
pub(crate) struct Trainings {
    client: Client,
    traces: Vec<Value>,
    asked: u64,
}

/// A model as its list shows it.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// `succeeded`, `failed`, …
    pub(crate) status: String,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// Its metrics; null unless it succeeded.
    pub(crate) metrics: Value,
}

impl Trainings {
    /// Imports and rates what is learnt from.
    pub(crate) async fn prepare(site: &Site, account: &Account, seen: &Arc<Seen>) -> Self {
        let mut this =
            Self { client: Client::new(site.url(), account.clone(), Arc::clone(seen)), traces: Vec::new(), asked: 0 };
        for number in 0..TRACES {
            let good = number % 2 == 0;
            let answer = if good { "I have looked and it is there." } else { "No idea." };
            let steps = json!([{"role": "user", "content": format!("Where is order {number}?")},
                {"role": "assistant", "content": answer}]);
            let line = json!({"id": format!("rated-{number}"), "steps": steps}).to_string();
            let imported = this.post("/traces/import", json!({"format": "stash", "data": line}), "import").await;
            let trace = imported["trace_ids"][0].clone();
            let path = format!("/traces/{}/annotations", trace.as_str().expect("an id"));
            this.post(&path, json!({"rating": if good { 1 } else { -1 }}), "rate").await;
            this.traces.push(trace);
        }
        this
    }

    /// Keeps trainings going until told to stop.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> Self {
        while !stop.is_cancelled() {
            let open = self.models().await.values().filter(|model| is_open(model)).count();
            if open < OPEN_MAX {
                self.ask().await;
            } else {
                tokio::time::sleep(LOOK).await;
            }
        }
        self
    }

    /// Asks for one more training; its model's id.
    pub(crate) async fn ask(&mut self) -> Uuid {
        self.asked += 1;
        let body = json!({"name": format!("model {}", self.asked), "trace_ids": self.traces, "base_model": BASE,
            "epochs": EPOCHS, "seed": self.asked});
        let model = self.post("/reward-models", body, "train").await;
        model["id"].as_str().and_then(|id| id.parse().ok()).expect("a model's id")
    }

    /// All models.
    pub(crate) async fn models(&mut self) -> BTreeMap<Uuid, Model> {
        let mut models = BTreeMap::new();
        loop {
            let path = format!("/reward-models?limit=100&offset={}", models.len());
            let (status, page) = self.client.read(&path).await;
            assert_eq!(status, StatusCode::OK, "the list of models: {page}");
            let items =
                page.as_array().or_else(|| page["items"].as_array()).or_else(|| page["reward_models"].as_array());
            let items = items.unwrap_or_else(|| panic!("a list of models, not {page}")).clone();
            let count = items.len();
            for item in items {
                let id = item["id"].as_str().and_then(|id| id.parse().ok()).expect("a model's id");
                let status = item["status"].as_str().expect("a status").to_owned();
                let error = item["error"].as_str().map(str::to_owned);
                models.insert(id, Model { status, error, metrics: item["metrics"].clone() });
            }
            if count < 100 {
                return models;
            }
        }
    }

    /// Waits until every training has ended.
    pub(crate) async fn ended(&mut self) -> BTreeMap<Uuid, Model> {
        let begin = Instant::now();
        loop {
            let models = self.models().await;
            let open: Vec<_> = models.values().filter(|model| is_open(model)).collect();
            if open.is_empty() {
                return models;
            }
            assert!(begin.elapsed() < END_MAX, "trainings did not end within {END_MAX:?}: {open:?}");
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn post(&mut self, path: &str, body: Value, what: &str) -> Value {
        let key = format!("{what}-{}-{}", self.traces.len(), self.asked);
        let change = Change { method: Method::POST, path: path.to_owned(), body: Some(body), if_match: None, key };
        let outcome = self.client.change(&change).await;
        assert!(outcome.status.is_success(), "{what}: {} {}", outcome.status, outcome.body);
        outcome.body
    }
}

fn is_open(model: &Model) -> bool {
    ["queued", "running"].contains(&model.status.as_str())
}
