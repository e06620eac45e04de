//! Models to call.

use super::budget::Budget;
use super::call::{Call, Reply, Usage};
use super::endpoint::Endpoint;
use super::error::LlmError;
use super::form::{Form, Forms};
use super::prices::{Price, Prices};
use super::transport::{HttpPost, Outgoing, Pace, Post, Transport};
use super::{Llm, wire};
use crate::clock::Clock;
use crate::config::LlmSettings;
use crate::telemetry::metrics::{LLM_SECONDS, LLM_TOKENS};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Instant;
use tracing::Instrument as _;

/// All models of a process: they share each host's limit and what is known of it.
pub struct Llms {
    settings: LlmSettings,
    shared: Arc<Shared>,
}

struct Shared {
    transport: Transport,
    forms: Forms,
}

impl Llms {
    /// Those of the settings, over HTTP.
    ///
    /// # Errors
    /// [`LlmError::NotConfigured`] where the system's TLS certificates cannot be read.
    pub fn new(settings: LlmSettings, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        let post = HttpPost::new(settings.timeout)
            .map_err(|reason| LlmError::NotConfigured { model: "any".to_owned(), reason })?;
        Ok(Self::over(Arc::new(post), settings, Pace::default(), clock))
    }

    /// Those of the settings, over any way to send requests.
    pub fn over(post: Arc<dyn Post>, settings: LlmSettings, pace: Pace, clock: Arc<dyn Clock>) -> Self {
        let transport = Transport::new(post, settings.concurrency, pace, clock);
        Self { settings, shared: Arc::new(Shared { transport, forms: Forms::default() }) }
    }

    /// The settings.
    pub fn settings(&self) -> &LlmSettings {
        &self.settings
    }

    /// A model by its string. `base` stands before the settings: an address that a request gave. No key goes there.
    ///
    /// # Errors
    /// [`LlmError::UnknownModel`], [`LlmError::NotConfigured`].
    pub fn open(&self, model: &str, base: Option<&str>) -> Result<Arc<dyn Llm>, LlmError> {
        let endpoint = Endpoint::find(&self.settings, model, base)?;
        let price = self.settings.prices.of(model);
        Ok(Arc::new(Client { endpoint, price, shared: self.shared.clone() }))
    }

    /// Prices, as set and as known.
    pub fn prices(&self) -> &Prices {
        &self.settings.prices
    }
}

struct Client {
    endpoint: Endpoint,
    price: Option<Price>,
    shared: Arc<Shared>,
}

#[async_trait]
impl Llm for Client {
    fn model(&self) -> &str {
        &self.endpoint.model.string
    }

    async fn complete(&self, call: &Call, budget: &Budget) -> Result<Reply, LlmError> {
        budget.check()?;
        let provider = self.endpoint.model.provider.name;
        let span = tracing::info_span!("llm_call", model = self.model(), host = self.endpoint.host);
        let began = Instant::now();
        let outcome = self.through_forms(call).instrument(span.clone()).await;
        let _entered = span.entered();
        let seconds = began.elapsed().as_secs_f64();
        match &outcome {
            Ok(reply) => {
                budget.spend(reply);
                count(provider, reply.usage);
                tracing::debug!(seconds, tokens = reply.usage.total(), form = reply.form.name(), "the model replied");
            }
            Err(error) => tracing::info!(seconds, %error, "the model could not be called"),
        }
        let word = if outcome.is_ok() { "replied" } else { "failed" };
        metrics::histogram!(LLM_SECONDS.name, "provider" => provider, "outcome" => word).record(seconds);
        outcome
    }
}

impl Client {
    /// Tries the forms in turn, from the one that is known to work.
    async fn through_forms(&self, call: &Call) -> Result<Reply, LlmError> {
        let (host, model) = (&self.endpoint.host, &self.endpoint.model);
        let forms = match call.answer {
            Some(_) => self.shared.forms.to_try(host, &model.name, model.provider.wire),
            None => &[Form::Text],
        };
        let mut refused = None;
        for (index, form) in forms.iter().copied().enumerate() {
            match self.in_form(call, form).await? {
                Ok(reply) => {
                    if call.answer.is_some() {
                        self.shared.forms.worked(host, &model.name, form);
                    }
                    return Ok(reply);
                }
                Err((status, message)) => {
                    let is_last = index + 1 == forms.len();
                    let go_down = !is_last && form.may_be_why(status, &message);
                    // The first refusal says most: those of lower forms are often only echoes of another cause.
                    let error = refused.unwrap_or(LlmError::Refused { host: host.clone(), status, message });
                    if !go_down {
                        return Err(error);
                    }
                    tracing::info!(
                        form = form.name(),
                        status,
                        "the server does not take this form of structured output"
                    );
                    refused = Some(error);
                }
            }
        }
        Err(refused
            .unwrap_or(LlmError::Unavailable { host: host.clone(), reason: "no form of request fits".to_owned() }))
    }

    /// Asks in one form: a reply, or the status and message of a refusal.
    async fn in_form(&self, call: &Call, form: Form) -> Result<Result<Reply, (u16, String)>, LlmError> {
        let endpoint = &self.endpoint;
        let unsent = |error: serde_json::Error| LlmError::BadResponse {
            host: endpoint.host.clone(),
            reason: format!("the request cannot be written: {error}"),
        };
        let body = wire::body(endpoint, call, form).map_err(unsent)?;
        let headers = wire::headers(endpoint);
        let provider = endpoint.model.provider;
        let request = Outgoing { provider: provider.name, url: &endpoint.url, headers: &headers, body: body.into() };
        let read = |bytes: &[u8]| wire::read(provider.wire, bytes);
        let key = endpoint.key.as_ref().map(|key| key.expose());
        Ok(match self.shared.transport.send(&endpoint.host, request, read).await? {
            // A server knows the key, and what it says becomes titles and reasons that others read.
            Ok(heard) => Ok(Reply {
                text: wire::without_key(heard.text, key),
                stop: heard.stop,
                model: heard.model.map_or_else(|| endpoint.model.name.clone(), |name| wire::name(name, key)),
                usage: heard.usage,
                cost_microusd: self.price.map(|price| price.cost_microusd(heard.usage)),
                form,
            }),
            Err(response) => Err((response.status, wire::message(&response.body, key, call))),
        })
    }
}

fn count(provider: &'static str, usage: Usage) {
    let kinds = [
        ("input", usage.input),
        ("output", usage.output),
        ("cache_read", usage.cache_read),
        ("cache_written", usage.cache_written),
    ];
    for (kind, tokens) in kinds {
        metrics::counter!(LLM_TOKENS.name, "provider" => provider, "kind" => kind).increment(tokens);
    }
}
