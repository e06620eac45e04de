//! `kill -9` of the API and of the projector at random moments while spans are sent live: every span that was acknowledged is
//! there, once, and each trace shows what all of its spans give.

use crate::kill::Killer;
use crate::support::client::{Client, Seen};
use crate::support::process::{Process, Role};
use crate::support::site::{Account, Log, Site};
use crate::support::{LOOK, check, number, random, seed, turn};
use rand::RngExt as _;
use rand::rngs::StdRng;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Kills of each process where the environment says nothing.
const KILLS: u64 = 25;

/// Exporters that send at once.
const SENDERS: u64 = 4;

/// Calls of a trace; each repeats the history of those before it.
const CALLS: u64 = 6;

/// How long spans may stay without an acknowledgement. Longer than any outage of the test.
const ACKNOWLEDGED_MAX: Duration = Duration::from_secs(180);

#[tokio::test(flavor = "multi_thread")]
async fn spans_outlive_kills_with_the_log_in_postgres() {
    kill_under_spans(Log::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_outlive_kills_with_the_log_in_kafka() {
    kill_under_spans(Log::Kafka).await;
}

async fn kill_under_spans(log: Log) {
    let _turn = turn().await;
    let seed = seed(&format!("kill -9 under live spans, log in {log:?}"));
    let kills = number("STASH_FAULT_KILLS").unwrap_or(KILLS);
    let site = Arc::new(Site::start(log).await);
    let http = reqwest::Client::new();
    let roles = [Role::Api, Role::Projector];
    let mut processes = Vec::new();
    for role in roles {
        let mut process = Process::spawn(&site, role);
        process.ready(&http).await;
        processes.push(process);
    }
    let account = site.account("spans@example.org").await;
    let stop = CancellationToken::new();
    let senders: Vec<_> = (0..SENDERS)
        .map(|number| {
            let sender = Sender {
                http: http.clone(),
                url: site.url(),
                account: account.clone(),
                number,
                random: random(seed, 2000 + number),
                again: 0,
            };
            tokio::spawn(sender.run(stop.clone()))
        })
        .collect();
    let killers: Vec<_> = processes
        .into_iter()
        .zip(roles)
        .map(|(process, role)| {
            let random = random(seed, role as u64);
            let killer = Killer { site: Arc::clone(&site), http: http.clone(), random, life: 50..400 };
            tokio::spawn(killer.run(role, process, kills))
        })
        .collect();
    let mut running = Vec::new();
    for killer in killers {
        running.push(killer.await.expect("a killer"));
    }
    stop.cancel();
    let (mut traces, mut again) = (Vec::new(), 0);
    for sender in senders {
        let (sent, repeated) = sender.await.expect("a sender");
        traces.extend(sent);
        again += repeated;
    }
    println!("{} traces, {again} requests sent again", traces.len());
    assert!(again > 0, "no request met a kill");
    for process in &mut running {
        process.assert_alive();
    }
    check::everything(&site, &[]).await;
    let mut client = Client::new(site.url(), account, Arc::new(Seen::default()));
    for trace in traces {
        let (status, shown) = client.read(&format!("/traces/external:{trace}")).await;
        assert_eq!(status, StatusCode::OK, "acknowledged and lost: trace {trace}: {shown}");
        let list = |key: &str| shown[key].as_array().cloned().unwrap_or_default();
        let spans: BTreeSet<String> =
            list("spans").iter().filter_map(|span| span["id"].as_str().map(str::to_owned)).collect();
        let expected: BTreeSet<String> = (0..CALLS).map(span_id).collect();
        assert_eq!((list("spans").len() as u64, spans), (CALLS, expected), "the spans of trace {trace}");
        let said: Vec<Value> = list("steps").iter().map(|step| step["content"].clone()).collect();
        let expected: Vec<Value> = (0..2 * CALLS).map(|n| Value::from(text(&trace, n))).collect();
        assert_eq!(said, expected, "the steps of trace {trace}");
        for (number, span) in (0..CALLS).zip(list("spans")) {
            assert_eq!(span["input"], history(&trace, number), "the input of a call of trace {trace}");
        }
    }
}

/// An exporter: it sends again what was not acknowledged, and knows no idempotency key.
struct Sender {
    http: reqwest::Client,
    url: String,
    account: Account,
    number: u64,
    random: StdRng,
    /// Requests sent again.
    again: u64,
}

impl Sender {
    /// The traces of which all spans were acknowledged, and how many requests were sent again.
    async fn run(mut self, stop: CancellationToken) -> (Vec<String>, u64) {
        let mut traces = Vec::new();
        while !stop.is_cancelled() {
            let trace = format!("{:032x}", (u128::from(self.number + 1) << 64) | (traces.len() as u128 + 1));
            let mut calls: Vec<u64> = (0..CALLS).collect();
            // Mostly as it happens; sometimes a span comes late.
            if self.random.random_bool(0.2) {
                calls.swap(1, 4);
            }
            while !calls.is_empty() {
                let rest = calls.split_off(self.random.random_range(1..=3).min(calls.len()));
                let spans: Vec<Value> = calls.iter().map(|call| span(&trace, *call)).collect();
                self.send(&json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})).await;
                calls = rest;
            }
            traces.push(trace);
        }
        (traces, self.again)
    }

    async fn send(&mut self, body: &Value) {
        let begin = Instant::now();
        loop {
            let request = self.http.post(format!("{}/api/v1/rm/otel/v1/traces", self.url)).json(body);
            match request.bearer_auth(&self.account.key).send().await {
                Ok(answer) if answer.status() == StatusCode::OK => {
                    let taken: Value = answer.json().await.unwrap_or_default();
                    assert!(taken.get("partialSuccess").is_none(), "spans were not taken: {taken}");
                    return;
                }
                Ok(answer) => {
                    let status = answer.status();
                    let may_come = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS].contains(&status);
                    assert!(may_come, "{status}: {}", answer.text().await.unwrap_or_default());
                }
                // Refused, or broken off.
                Err(_) => {}
            }
            self.again += 1;
            assert!(begin.elapsed() < ACKNOWLEDGED_MAX, "spans without an answer for {ACKNOWLEDGED_MAX:?}");
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn text(trace: &str, number: u64) -> String {
    format!("message {number} of {trace}, which is long enough to be worth being said once")
}

fn span_id(call: u64) -> String {
    format!("{:016x}", call + 1)
}

/// The messages that a call was given, as JSON.
fn history(trace: &str, call: u64) -> String {
    Value::from((0..=2 * call).map(|n| message(trace, n)).collect::<Vec<_>>()).to_string()
}

fn message(trace: &str, number: u64) -> Value {
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    json!({"role": role, "parts": [{"type": "text", "content": text(trace, number)}]})
}

fn span(trace: &str, call: u64) -> Value {
    let start_ns = 1_790_000_000_000_000_000 + call * 1_000_000_000;
    let attribute = |key: &str, value: String| json!({"key": key, "value": {"stringValue": value}});
    json!({
        "traceId": trace,
        "spanId": span_id(call),
        "name": "chat",
        "startTimeUnixNano": start_ns.to_string(),
        "endTimeUnixNano": (start_ns + 500_000_000).to_string(),
        "attributes": [
            attribute("gen_ai.operation.name", "chat".to_owned()),
            attribute("gen_ai.input.messages", history(trace, call)),
            attribute("gen_ai.output.messages", Value::from(vec![message(trace, 2 * call + 1)]).to_string()),
        ],
    })
}
