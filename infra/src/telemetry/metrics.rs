//! Every figure that Stash exports, and the page that shows them.
//!
//! To add one: a constant here, its place in [`ALL`], and a call with its name. Units are seconds and bytes, and stand in the
//! name, as Prometheus's conventions have it.

use super::logs::TelemetryError;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use metrics::Unit;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use std::time::Duration;

/// How a figure behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// A distribution of seconds, in buckets.
    Seconds,
}

/// A figure.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// How it behaves.
    pub kind: Kind,
    /// Its labels; each takes few values.
    pub labels: &'static [&'static str],
    /// What it says.
    pub doc: &'static str,
}

/// Requests answered.
pub const HTTP_REQUESTS: Metric = Metric {
    name: "stash_http_requests_total",
    kind: Kind::Counter,
    labels: &["method", "route", "status"],
    doc: "HTTP requests answered. The route is the pattern, or `unmatched`.",
};

/// Time to the head of the answer.
pub const HTTP_SECONDS: Metric = Metric {
    name: "stash_http_request_duration_seconds",
    kind: Kind::Seconds,
    labels: &["method", "route"],
    doc: "Time from a request to the head of its answer.",
};

/// Requests being answered.
pub const HTTP_IN_FLIGHT: Metric = Metric {
    name: "stash_http_requests_in_flight",
    kind: Kind::Gauge,
    labels: &[],
    doc: "HTTP requests that are being answered now.",
};

/// Panics.
pub const PANICS: Metric = Metric {
    name: "stash_panics_total",
    kind: Kind::Counter,
    labels: &[],
    doc: "Panics of the process, each a bug; the log has their places.",
};

/// Requests to language models.
pub const LLM_REQUESTS: Metric = Metric {
    name: "stash_llm_requests_total",
    kind: Kind::Counter,
    labels: &["provider", "status"],
    doc: "Requests to providers of language models, each retry by itself. The status is `none` where no answer came.",
};

/// Time of a call of a language model.
pub const LLM_SECONDS: Metric = Metric {
    name: "stash_llm_call_duration_seconds",
    kind: Kind::Seconds,
    labels: &["provider", "outcome"],
    doc: "Time of a call of a language model, with its retries and its waits for a place.",
};

/// Tokens of language models.
pub const LLM_TOKENS: Metric = Metric {
    name: "stash_llm_tokens_total",
    kind: Kind::Counter,
    labels: &["provider", "kind"],
    doc: "Tokens of language models: `input`, `output`, `cache_read`, `cache_written`.",
};

/// All figures.
pub const ALL: &[Metric] =
    &[HTTP_REQUESTS, HTTP_SECONDS, HTTP_IN_FLIGHT, PANICS, LLM_REQUESTS, LLM_SECONDS, LLM_TOKENS];

/// Upper bounds of the buckets of durations: from a cached read to a wait budget spent several times over.
const SECONDS_BUCKETS: [f64; 13] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// How often samples are folded into buckets; between two times they take memory.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// The figures of this process, to render.
#[derive(Clone)]
pub struct Metrics {
    handle: PrometheusHandle,
}

impl Metrics {
    /// Makes the recorder the process's own.
    ///
    /// # Errors
    /// [`TelemetryError::Started`] when there is one already.
    pub(super) fn install() -> Result<Self, TelemetryError> {
        let (recorder, metrics) = Self::recorder();
        ::metrics::set_global_recorder(recorder).map_err(|_| TelemetryError::Started)?;
        describe();
        Ok(metrics)
    }

    /// A recorder by itself, for a test that installs it locally.
    pub fn recorder() -> (PrometheusRecorder, Self) {
        // All histograms are of seconds. It fails for an empty list of buckets only.
        let builder =
            PrometheusBuilder::new().set_buckets(&SECONDS_BUCKETS).unwrap_or_else(|_| PrometheusBuilder::new());
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        (recorder, Self { handle })
    }

    /// The figures in Prometheus's text format.
    pub fn render(&self) -> String {
        self.handle.render()
    }

    /// Keeps the memory of unread samples bounded, until it is dropped: run it beside everything else.
    pub async fn upkeep(self) {
        let mut ticks = tokio::time::interval(UPKEEP_EVERY);
        loop {
            ticks.tick().await;
            self.handle.run_upkeep();
        }
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

/// Tells the recorder what each figure says.
fn describe() {
    for metric in ALL {
        match metric.kind {
            Kind::Counter => ::metrics::describe_counter!(metric.name, metric.doc),
            Kind::Gauge => ::metrics::describe_gauge!(metric.name, metric.doc),
            Kind::Seconds => ::metrics::describe_histogram!(metric.name, Unit::Seconds, metric.doc),
        }
    }
}

/// `/metrics`.
pub fn metrics_router(metrics: Metrics) -> Router {
    Router::new().route("/metrics", get(show)).with_state(metrics)
}

async fn show(State(metrics): State<Metrics>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], metrics.render()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions_and_are_unique() {
        let mut seen = std::collections::HashSet::new();
        for metric in ALL {
            assert!(seen.insert(metric.name), "{} stands twice", metric.name);
            assert!(metric.name.starts_with("stash_") && !metric.doc.is_empty());
            assert_eq!(metric.kind == Kind::Counter, metric.name.ends_with("_total"), "{}", metric.name);
            assert_eq!(metric.kind == Kind::Seconds, metric.name.ends_with("_seconds"), "{}", metric.name);
        }
    }

    #[test]
    fn figures_are_rendered_with_what_they_say() {
        let (recorder, metrics) = Metrics::recorder();
        ::metrics::with_local_recorder(&recorder, || {
            describe();
            ::metrics::counter!(HTTP_REQUESTS.name, "method" => "GET", "route" => "/x", "status" => "200").increment(2);
            ::metrics::histogram!(HTTP_SECONDS.name, "method" => "GET", "route" => "/x").record(0.02);
        });
        let text = metrics.render();
        assert!(text.contains("# HELP stash_http_requests_total HTTP requests answered."), "{text}");
        assert!(text.contains(r#"stash_http_requests_total{method="GET",route="/x",status="200"} 2"#), "{text}");
        assert!(text.contains(r#"le="0.025"} 1"#), "{text}");
    }
}
