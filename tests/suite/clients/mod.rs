//! OpenTelemetry's own clients against Stash: an agent in Python and in JavaScript, traced by each instrumentation of OpenAI's
//! library, talks to a scripted model and sends what it recorded. Whatever the instrumentation, the trace has the same steps.

mod agent;
mod openai;
mod settings;

use crate::support::{Client, Folder, Stash};
use agent::{Agent, Language, root};
use openai::OpenAi;
use serde_json::Value;

/// Agents that run at once.
const AT_ONCE: usize = 2;

/// Settings that make an instrumentation of the OpenTelemetry project record messages, and where.
const LEGACY: (&str, &str) = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
const SPAN_ONLY: (&str, &str) = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_only");
const EVENT_ONLY: (&str, &str) = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "event_only");
const SPAN_AND_EVENT: (&str, &str) = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_and_event");
const LATEST: (&str, &str) = ("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental");
const EMIT: (&str, &str) = ("OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT", "true");
const GZIP: (&str, &str) = ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
const AS_JSON: (&str, &str) = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
/// Where the exporter is told in code.
const NO_ADDRESS: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "");
const NO_HEADERS: (&str, &str) = ("OTEL_EXPORTER_OTLP_HEADERS", "");
/// Every span in a request of its own, calls before the root.
const ONE_BY_ONE: (&str, &str) = ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1");

type Case = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const STREAM: &[&str] = &["--stream"];

const PYTHON: &[Case] = &[
    ("openinference", &[], &[]),
    ("openinference", STREAM, &[GZIP]),
    ("traceloop", &[], &[]),
    ("traceloop", STREAM, &[ONE_BY_ONE]),
    ("traceloop-events", &["--plain"], &[]),
    ("traceloop-events", STREAM, &[]),
    ("openai-v2", &[], &[LEGACY]),
    ("openai-v2", STREAM, &[LEGACY]),
    ("openai-v2", &[], &[LATEST, SPAN_ONLY]),
    ("openai-v2", &[], &[LATEST, EVENT_ONLY]),
    ("openai-v2", &[], &[LATEST, SPAN_AND_EVENT]),
    ("openai-v2", STREAM, &[LATEST, SPAN_AND_EVENT, GZIP]),
    ("genai-openai", &[], &[SPAN_ONLY]),
    ("genai-openai", STREAM, &[SPAN_AND_EVENT, EMIT]),
    ("genai-openai", &[], &[EVENT_ONLY, EMIT, ONE_BY_ONE]),
];

const JAVASCRIPT: &[Case] = &[
    ("openinference", &[], &[]),
    ("openinference", STREAM, &[AS_JSON]),
    ("openinference", &["--exporter-in-code"], &[NO_ADDRESS, NO_HEADERS]),
    ("traceloop", &[], &[AS_JSON, GZIP]),
    ("traceloop", STREAM, &[GZIP]),
    ("opentelemetry", &[], &[LEGACY]),
    ("opentelemetry", STREAM, &[LEGACY, AS_JSON, ONE_BY_ONE]),
];

fn read(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(root().join(path)).unwrap()).unwrap()
}

/// What differs between the steps of a trace and those expected; a step may have more than is expected.
fn difference(expected: &Value, trace: &Value) -> Option<String> {
    let (expected, found) = (expected.as_array().unwrap(), trace["steps"].as_array().unwrap());
    let holds = |found: &Value, expected: &Value| {
        expected.as_object().unwrap().iter().all(|(field, value)| found.get(field) == Some(value))
    };
    let same =
        expected.len() == found.len() && found.iter().zip(expected).all(|(found, expected)| holds(found, expected));
    (!same).then(|| format!("the steps are {}", serde_json::to_string_pretty(found).unwrap()))
}

/// Runs an agent and reads its trace, with everything in it that was acknowledged.
async fn trial(agent: Agent, settings: &[(String, String)], stash: &Client, expected: &Value) -> Result<(), String> {
    let trace_id = agent.run(settings).await?;
    // What comes after in the log is seen after: the answer's position is beyond all that the agent sent.
    stash.import(r#"{"id":"after","steps":[{"role":"user","content":"a command after the spans"}]}"#).await;
    let answer = stash.get(&format!("traces/external:{trace_id}")).await;
    if !answer.status.is_success() {
        return Err(format!("trace {trace_id} reads {}: {}", answer.status, answer.text));
    }
    difference(expected, &answer.body).map_or(Ok(()), Err)
}

async fn every_agent_gives_the_golden_steps(language: Language, cases: &[Case]) {
    let folder = Folder::new();
    let up = Stash::up(&folder.data()).await;
    let openai = OpenAi::start(&read("tests/clients/conversation.json")).await;
    let expected = read("tests/clients/golden.json");
    let mut settings = settings::of(language, &up);
    settings.push(("OPENAI_BASE_URL".to_owned(), openai.url.clone()));
    settings.push(("OPENAI_API_KEY".to_owned(), openai::KEY.to_owned()));
    let stash = up.operator();
    let mut faults = Vec::new();
    for cases in cases.chunks(AT_ONCE) {
        let trials = cases.iter().map(|(instrumentation, options, own)| {
            let agent = Agent { language, instrumentation, options, settings: own };
            let (settings, stash, expected) = (&settings, &stash, &expected);
            async move { (agent, trial(agent, settings, stash, expected).await) }
        });
        for (agent, outcome) in futures::future::join_all(trials).await {
            faults.extend(outcome.err().map(|fault| format!("{agent:?}: {fault}")));
        }
    }
    faults.extend(openai.faults());
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert_eq!(stash.get("otel/pending").await.ok(), serde_json::json!([]), "nothing waits for a call");
    assert_eq!(up.terminate().code(), Some(0));
}

#[tokio::test]
async fn python_agents_give_the_golden_steps() {
    every_agent_gives_the_golden_steps(Language::Python, PYTHON).await;
}

#[tokio::test]
async fn javascript_agents_give_the_golden_steps() {
    every_agent_gives_the_golden_steps(Language::JavaScript, JAVASCRIPT).await;
}
