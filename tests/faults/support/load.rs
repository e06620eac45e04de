//! Clients that import, annotate, change and delete at random, and keep the ledger.

use super::client::{Change, Client, Outcome, Seen};
use super::ledger::{Ledger, Note, Told, Trace, command};
use super::random;
use super::site::{Account, Site};
use rand::RngExt as _;
use rand::rngs::StdRng;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use stash_domain::ids::OwnerId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Clients that run at once.
const CLIENTS: u64 = 4;

/// Traces of one client; beyond, it imports old ones anew instead of further ones.
const TRACES_MAX: usize = 60;

/// Bytes of a step that makes a payload large enough for the artifact store.
const LARGE_BYTES: usize = 600 * 1024;

/// A running load.
pub(crate) struct Load {
    clients: Vec<JoinHandle<Ledger>>,
    progress: Vec<Arc<AtomicU64>>,
    stop: CancellationToken,
}

/// How the load is made up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mix {
    /// Imports in a hundred that are large. The others are small.
    pub(crate) large_imports: u32,
}

impl Load {
    /// Starts it.
    pub(crate) fn start(site: &Site, account: &Account, seen: &Arc<Seen>, seed: u64, mix: Mix) -> Self {
        let stop = CancellationToken::new();
        let (mut clients, mut progress) = (Vec::new(), Vec::new());
        for number in 0..CLIENTS {
            let done = Arc::new(AtomicU64::new(0));
            let worker = Worker {
                client: Client::new(site.url(), account.clone(), Arc::clone(seen)),
                owner: account.owner,
                name: format!("c{number}"),
                random: random(seed, 1000 + number),
                ledger: Ledger::default(),
                commands: 0,
                imports: 0,
                mix,
            };
            clients.push(tokio::spawn(worker.run(stop.clone(), Arc::clone(&done))));
            progress.push(done);
        }
        Self { clients, progress, stop }
    }

    /// Changes with an outcome so far, of each client.
    pub(crate) fn done(&self) -> Vec<u64> {
        self.progress.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }

    /// Lets each client finish its change, and returns what they were told.
    pub(crate) async fn stop(self) -> Ledger {
        self.stop.cancel();
        let mut all = Ledger::default();
        for client in self.clients {
            all.merge(client.await.expect("a client"));
        }
        all
    }
}

/// One client.
struct Worker {
    client: Client,
    owner: OwnerId,
    name: String,
    random: StdRng,
    ledger: Ledger,
    commands: u64,
    imports: u64,
    mix: Mix,
}

impl Worker {
    async fn run(mut self, stop: CancellationToken, done: Arc<AtomicU64>) -> Ledger {
        while !stop.is_cancelled() {
            self.step().await;
            done.fetch_add(1, Ordering::Relaxed);
        }
        self.ledger
    }

    async fn step(&mut self) {
        let trace = self.some_trace();
        let note = trace.and_then(|trace| self.some_note(trace).map(|note| (trace, note)));
        match (self.random.random_range(0..100), trace, note) {
            (0..35, Some(trace), _) => self.annotate(trace).await,
            (35..60, _, Some((trace, note))) => self.change(trace, note).await,
            (60..65, _, Some((trace, note))) => self.change_stale(trace, note).await,
            (65..75, _, Some((trace, note))) => self.delete_note(trace, note).await,
            (75..79, Some(trace), _) => self.annotate_badly(trace).await,
            (79..82, Some(trace), _) => self.delete_trace(trace).await,
            (82..88, Some(trace), _) => self.import(Some(trace)).await,
            (88..92, Some(trace), _) => self.read(trace).await,
            _ if self.ledger.traces.len() < TRACES_MAX => self.import(None).await,
            _ => self.import(trace).await,
        }
    }

    fn some_trace(&mut self) -> Option<Uuid> {
        let count = self.ledger.traces.len();
        (count > 0).then(|| self.random.random_range(0..count)).and_then(|n| self.ledger.traces.keys().nth(n).copied())
    }

    fn some_note(&mut self, trace: Uuid) -> Option<Uuid> {
        let notes = &self.ledger.traces[&trace].notes;
        (!notes.is_empty()).then(|| self.random.random_range(0..notes.len())).and_then(|n| notes.keys().nth(n).copied())
    }

    /// Sends a change until it has an outcome, and enters it in the ledger.
    async fn tell(&mut self, route: &str, path: String, body: Option<Value>, if_match: Option<u64>) -> Outcome {
        self.commands += 1;
        let key = format!("{}-{}", self.name, self.commands);
        let method: Method = route.split(' ').next().and_then(|method| method.parse().ok()).expect("a method");
        let change = Change { method, path, body, if_match, key };
        let outcome = self.client.change(&change).await;
        let id = command(self.owner, route, &change.key);
        if let Some(named) = outcome.command {
            assert_eq!(named, id.0, "the id that a 202 names");
        }
        let told = match outcome.status.is_success() {
            true => Told::Accepted,
            false => Told::Refused(outcome.status.as_u16()),
        };
        let what = format!("{} {} {:?}", change.method, change.path, change.if_match);
        self.ledger.told.insert(id, (told, what));
        outcome
    }

    fn note_of(&mut self, trace: Uuid, note: Uuid) -> &mut Note {
        let notes = &mut self.ledger.traces.get_mut(&trace).expect("a trace of the ledger").notes;
        notes.get_mut(&note).expect("an annotation of the ledger")
    }

    async fn import(&mut self, again: Option<Uuid>) {
        self.imports += 1;
        let external = match again {
            Some(trace) => self.ledger.traces[&trace].external.clone(),
            None => format!("{}-trace-{}", self.name, self.imports),
        };
        let title = format!("Import {} of {}", self.imports, self.name);
        let padding = self.padding();
        let last_step = format!("answer {}{padding}", self.imports);
        let steps = json!([{"role": "user", "content": "question"}, {"role": "assistant", "content": last_step}]);
        let line = json!({"id": external, "title": title, "steps": steps}).to_string();
        let body = json!({"format": "stash", "data": line});
        let outcome = self.tell("POST /traces/import", "/traces/import".into(), Some(body), None).await;
        assert_eq!(outcome.status, StatusCode::OK, "an import: {}", outcome.body);
        let id: Uuid = outcome.body["trace_ids"][0].as_str().and_then(|id| id.parse().ok()).expect("a trace's id");
        let notes = self.ledger.traces.remove(&id).map(|trace| trace.notes).unwrap_or_default();
        self.ledger.traces.insert(id, Trace { external, title, last_step, notes });
    }

    /// Text that does not compress away, for imports that shall be large.
    fn padding(&mut self) -> String {
        if self.random.random_range(0..100) >= self.mix.large_imports {
            return String::new();
        }
        let letters = (0..LARGE_BYTES).map(|_| char::from(self.random.random_range(b'a'..=b'z')));
        std::iter::once(' ').chain(letters).collect()
    }

    async fn annotate(&mut self, trace: Uuid) {
        let rating: i16 = if self.random.random_bool(0.5) { 1 } else { -1 };
        let comment = format!("comment {} of {}", self.commands, self.name);
        let body = json!({"rating": rating, "comment": comment});
        let route = "POST /traces/{trace_id}/annotations";
        let outcome = self.tell(route, format!("/traces/{trace}/annotations"), Some(body), None).await;
        assert_eq!(outcome.status, StatusCode::CREATED, "an annotation: {}", outcome.body);
        let id = outcome.body["id"].as_str().and_then(|id| id.parse().ok()).expect("an annotation's id");
        let note = Note { rating: Some(rating), comment: Some(comment), version: 1 };
        self.ledger.traces.get_mut(&trace).expect("a trace of the ledger").notes.insert(id, note);
    }

    async fn change(&mut self, trace: Uuid, note: Uuid) {
        let comment = format!("changed by {} of {}", self.commands, self.name);
        let version = self.note_of(trace, note).version;
        let if_match = self.random.random_bool(0.5).then_some(version);
        let body = json!({"comment": comment});
        let route = "PATCH /annotations/{annotation_id}";
        let outcome = self.tell(route, format!("/annotations/{note}"), Some(body), if_match).await;
        assert_eq!(outcome.status, StatusCode::OK, "a change: {}", outcome.body);
        let note = self.note_of(trace, note);
        note.comment = Some(comment);
        note.version += 1;
    }

    /// Names a version that was never current after another change: refused, without effect.
    async fn change_stale(&mut self, trace: Uuid, note: Uuid) {
        let stale = self.note_of(trace, note).version + 7;
        let body = json!({"comment": "this must never be seen"});
        let route = "PATCH /annotations/{annotation_id}";
        let outcome = self.tell(route, format!("/annotations/{note}"), Some(body), Some(stale)).await;
        assert_eq!(outcome.status, StatusCode::CONFLICT, "a stale change: {}", outcome.body);
    }

    async fn annotate_badly(&mut self, trace: Uuid) {
        let body = json!({"rating": 2, "comment": "this must never be seen"});
        let route = "POST /traces/{trace_id}/annotations";
        let outcome = self.tell(route, format!("/traces/{trace}/annotations"), Some(body), None).await;
        assert_eq!(outcome.status, StatusCode::UNPROCESSABLE_ENTITY, "a bad annotation: {}", outcome.body);
    }

    /// Reads what it wrote.
    async fn read(&mut self, trace: Uuid) {
        let (status, shown) = self.client.read(&format!("/traces/{trace}")).await;
        assert_eq!(status, StatusCode::OK, "a read: {shown}");
        assert_eq!(shown["title"], self.ledger.traces[&trace].title, "a read after an acknowledged import");
    }

    async fn delete_note(&mut self, trace: Uuid, note: Uuid) {
        let outcome =
            self.tell("DELETE /annotations/{annotation_id}", format!("/annotations/{note}"), None, None).await;
        assert_eq!(outcome.status, StatusCode::NO_CONTENT, "a deletion: {}", outcome.body);
        self.ledger.traces.get_mut(&trace).expect("a trace of the ledger").notes.remove(&note);
    }

    async fn delete_trace(&mut self, trace: Uuid) {
        let outcome = self.tell("DELETE /traces/{trace_id}", format!("/traces/{trace}"), None, None).await;
        assert_eq!(outcome.status, StatusCode::NO_CONTENT, "a deletion: {}", outcome.body);
        self.ledger.traces.remove(&trace);
    }
}
