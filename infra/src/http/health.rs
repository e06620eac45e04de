//! Liveness (`/healthz`: the process answers) and readiness (`/readyz`: what it needs answers too).
//!
//! Both are open to anyone who reaches the port, so they say nothing of the inside, and readiness is found out at most once per
//! [`FRESH_FOR`], whoever asks how often.

use async_trait::async_trait;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use utoipa::ToSchema;

/// How long a finding is served again.
const FRESH_FOR: Duration = Duration::from_millis(500);

/// How long a check may take; then it has failed.
const CHECK_MAX: Duration = Duration::from_secs(2);

/// Something that must work before requests are sent here.
#[async_trait]
pub trait Check: Send + Sync + 'static {
    /// Its name in the answer.
    fn name(&self) -> &'static str;

    /// Finds out. The text says what is wrong in words that may be public.
    async fn check(&self) -> Result<(), String>;
}

/// The outcome of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CheckResult {
    /// What was checked.
    pub name: &'static str,
    /// Whether it works.
    pub ok: bool,
    /// What is wrong, else null.
    pub detail: Option<String>,
}

/// The outcome of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Readiness {
    /// Whether all work.
    pub ready: bool,
    /// Each of them.
    pub checks: Vec<CheckResult>,
}

/// The checks, and the last finding.
pub struct Health {
    checks: Vec<Box<dyn Check>>,
    last: Mutex<Option<(Instant, Readiness)>>,
}

impl Health {
    /// Readiness made of these.
    pub fn new(checks: Vec<Box<dyn Check>>) -> Self {
        Self { checks, last: Mutex::new(None) }
    }

    /// Whether requests can be answered, as found within the last [`FRESH_FOR`].
    pub async fn readiness(&self) -> Readiness {
        // Held while checking, so that many callers cause one round of checks.
        let mut last = self.last.lock().await;
        if let Some((when, found)) = &*last
            && when.elapsed() < FRESH_FOR
        {
            return found.clone();
        }
        let results = futures::future::join_all(self.checks.iter().map(|check| async move {
            let outcome = tokio::time::timeout(CHECK_MAX, check.check()).await;
            let outcome = outcome.unwrap_or_else(|_| Err(format!("no answer within {} s", CHECK_MAX.as_secs())));
            CheckResult { name: check.name(), ok: outcome.is_ok(), detail: outcome.err() }
        }));
        let checks = results.await;
        let found = Readiness { ready: checks.iter().all(|check| check.ok), checks };
        *last = Some((Instant::now(), found.clone()));
        found
    }
}

/// `/healthz` and `/readyz`.
pub fn router(health: Arc<Health>) -> Router {
    Router::new().route("/healthz", get(alive)).route("/readyz", get(ready)).with_state(health)
}

async fn alive() -> Json<serde_json::Value> {
    Json(serde_json::json!({ "status": "ok" }))
}

async fn ready(State(health): State<Arc<Health>>) -> Response {
    let found = health.readiness().await;
    let status = if found.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(found)).into_response()
}
