//! Language models over HTTP, against a server that answers by script.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::Value;
use stash_domain::ids::Digest;
use stash_infra::clock::SystemClock;
use stash_infra::config::{Environment, LlmSettings};
use stash_infra::llm::form::Form;
use stash_infra::llm::transport::{HttpPost, Pace};
use stash_infra::llm::{
    AnswerSchema, Budget, Call, Finished, Journal, Kept, Llm, LlmError, Llms, NoJournal, Reply, ask,
};
use stash_infra::testing::llm::{Answer, Asked, Held, LlmServer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 0, "maximum": 5}},
    "required": ["reason", "score"],
    "additionalProperties": false
}"#;

const GOOD: &str = r#"{"reason": "as asked", "score": 3}"#;

const KEY: &str = "sk-very-secret-key";

fn call() -> Call {
    let schema = AnswerSchema::new("verdict", SCHEMA).unwrap();
    Call::new("Judge what is shown.", "The agent said: your parcel is lost in Lisbon.", 500)
        .with_answer(Arc::new(schema))
}

/// A process's models, of this server, with pauses that nobody notices and a time for a call as given.
fn models(server: &LlmServer, timeout: Duration) -> Llms {
    let settings = LlmSettings::read(&Environment::of([
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("ANTHROPIC_BASE_URL", server.root()),
        ("HOSTED_VLLM_API_BASE", server.base()),
        ("HOSTED_VLLM_API_KEY", KEY.to_owned()),
        ("STASH_LLM_PRICES", "hosted_vllm/m=1/10".to_owned()),
    ]))
    .unwrap();
    let pace = Pace { pause: Duration::from_millis(1), ..Pace::default() };
    Llms::over(Arc::new(HttpPost::new(timeout).unwrap()), settings, pace, Arc::new(SystemClock))
}

fn model(server: &LlmServer, string: &str) -> Arc<dyn Llm> {
    models(server, Duration::from_secs(60)).open(string, None).unwrap()
}

async fn score(llm: &dyn Llm) -> Result<i64, LlmError> {
    let check = |answer: &Value| answer["score"].as_i64().ok_or_else(|| "no score".to_owned());
    Ok(ask(llm, &Budget::unbounded(), &NoJournal, call(), check).await?.answer)
}

fn forms(server: &LlmServer) -> Vec<Form> {
    server.asked().iter().map(|asked| asked.form).collect()
}

#[tokio::test]
async fn both_wire_formats_give_an_answer_and_what_it_took() {
    let server = LlmServer::start(|_| Answer::says_for(GOOD, (2000, 100))).await;
    for string in ["anthropic/claude-haiku-4-5", "hosted_vllm/m"] {
        let budget = Budget::unbounded();
        let llm = model(&server, string);
        let answered = ask(&*llm, &budget, &NoJournal, call(), |answer| Ok(answer.clone())).await.unwrap();
        assert_eq!(answered.answer["reason"], "as asked");
        assert_eq!(answered.reply.form, Form::Schema);
        assert!(!answered.mended);
        let spent = budget.spent();
        assert_eq!((spent.calls, spent.usage.input, spent.usage.output), (1, 2000, 100));
        // $1 and $5 per million, and $1 and $10.
        assert_eq!(spent.cost_microusd, if string.starts_with('a') { 2500 } else { 3000 });
    }
    assert!(server.asked().iter().all(|asked| asked.key.as_deref() == Some(KEY)));
}

#[tokio::test]
async fn a_server_that_refuses_a_form_is_asked_in_the_next_one_and_that_is_remembered() {
    let server = LlmServer::start(|asked| match asked.form {
        Form::Schema => Answer::refuses("output_config: Extra inputs are not permitted"),
        Form::ForcedTool => Answer::refuses("tool_choice: only auto is supported by this model"),
        _ => Answer::says(GOOD),
    })
    .await;
    let llm = model(&server, "claude-new");
    assert_eq!(score(&*llm).await, Ok(3));
    assert_eq!(score(&*llm).await, Ok(3));
    assert_eq!(forms(&server), [Form::Schema, Form::ForcedTool, Form::OfferedTool, Form::OfferedTool]);

    let server = LlmServer::start(|asked| match asked.form {
        Form::Schema | Form::JsonObject => Answer::refuses("unknown field response_format"),
        _ => Answer::says(format!("Of course:\n```json\n{GOOD}\n```")),
    })
    .await;
    assert_eq!(score(&*model(&server, "hosted_vllm/m")).await, Ok(3));
    assert_eq!(forms(&server), [Form::Schema, Form::JsonObject, Form::Text]);
}

#[tokio::test]
async fn another_refusal_is_told_and_no_form_is_tried_for_it() {
    let server = LlmServer::start(|_| Answer::refuses("prompt is too long: 300000 tokens > 200000 maximum")).await;
    let error = score(&*model(&server, "claude-x")).await.unwrap_err();
    assert!(
        matches!(&error, LlmError::Refused { status: 400, message, .. } if message.starts_with("prompt is too long"))
    );
    assert!(!error.may_pass());
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_malformed_answer_is_mended_once() {
    let server = LlmServer::start(|asked| match asked.number {
        0 => Answer::says(r#"{"reason": "x", "score": 9}"#),
        _ => Answer::says(GOOD),
    })
    .await;
    let llm = model(&server, "claude-x");
    let answered = ask(&*llm, &Budget::unbounded(), &NoJournal, call(), |_| Ok(())).await.unwrap();
    assert!(answered.mended);
    let repair = &server.asked()[1];
    assert_eq!(repair.turns.len(), 3);
    assert!(repair.last().contains("$.score must be at most 5"), "{}", repair.last());
}

#[tokio::test]
async fn malformed_twice_is_an_error_without_content() {
    let server = LlmServer::start(|_| Answer::says("Lisbon? Lisbon!")).await;
    let error = score(&*model(&server, "hosted_vllm/m")).await.unwrap_err();
    assert!(matches!(error, LlmError::Malformed { .. }), "{error}");
    assert!(!error.to_string().contains("Lisbon"), "{error}");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_cut_reply_is_asked_for_again_and_a_declined_one_is_not() {
    let server = LlmServer::start(|asked| match asked.number {
        0 => Answer::is_cut_off(r#"{"reason": "as as"#),
        _ => Answer::says(GOOD),
    })
    .await;
    assert_eq!(score(&*model(&server, "hosted_vllm/m")).await, Ok(3));
    assert!(server.asked()[1].last().contains("cut off"));
    let server = LlmServer::start(|_| Answer::declines()).await;
    for string in ["claude-x", "hosted_vllm/m"] {
        assert!(matches!(score(&*model(&server, string)).await, Err(LlmError::Declined { .. })));
    }
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_limited_or_failing_server_is_asked_again() {
    let server = LlmServer::start(|asked| match asked.number {
        0 => Answer::is_limited("0"),
        1 => Answer::fails(529, "overloaded"),
        2 => Answer::BreaksOff,
        3 => Answer::raw("text/html", "<html>a proxy's page</html>"),
        _ => Answer::says(GOOD),
    })
    .await;
    assert_eq!(score(&*model(&server, "hosted_vllm/m")).await, Ok(3));
    assert_eq!(server.asked().len(), 5);
}

#[tokio::test]
async fn a_hostile_server_costs_a_bounded_number_of_requests_and_bytes() {
    let server = LlmServer::start(|_| Answer::Endless).await;
    let error = score(&*model(&server, "hosted_vllm/m")).await.unwrap_err();
    assert!(error.to_string().contains("8388608 bytes"), "{error}");
    assert_eq!(server.asked().len(), 1);

    let server = LlmServer::start(|_| Answer::raw("application/json", r#"{"choices": [{"message": {"cont"#)).await;
    assert!(matches!(score(&*model(&server, "hosted_vllm/m")).await, Err(LlmError::BadResponse { .. })));
    assert_eq!(server.asked().len(), 5);

    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let server = LlmServer::start(move |_| Answer::says(deep.clone())).await;
    assert!(matches!(score(&*model(&server, "hosted_vllm/m")).await, Err(LlmError::Malformed { .. })));
}

#[tokio::test]
async fn a_wait_of_a_year_is_not_taken() {
    for wait in ["31536000", "Fri, 31 Dec 2100 23:59:59 GMT"] {
        let server = LlmServer::start(move |_| Answer::is_limited(wait)).await;
        let llm = model(&server, "hosted_vllm/m");
        let error = score(&*llm).await.unwrap_err();
        assert!(matches!(error, LlmError::RateLimited { .. }) && error.may_pass(), "{error}");
        // Nor does it hold up the next call.
        assert!(score(&*llm).await.is_err());
        assert_eq!(server.asked().len(), 2);
    }
}

#[tokio::test]
async fn a_server_that_says_the_key_in_its_answer_is_not_repeated() {
    let answer = format!(
        r#"{{"model": "m {KEY}\u001b[2J{}", "choices": [{{"message": {{"content": {:?}}}}}],
            "usage": {{"prompt_tokens": 18446744073709551615, "completion_tokens": 18446744073709551615}}}}"#,
        "x".repeat(1000),
        format!(r#"{{"reason": "the key is {KEY}", "score": 3}}"#),
    );
    let server = LlmServer::start(move |_| Answer::raw("application/json", answer.clone())).await;
    let budget = Budget::new(Some(1000), Some(1000));
    let reply = model(&server, "hosted_vllm/m").complete(&call(), &budget).await.unwrap();
    assert!(!format!("{reply:?}").contains(KEY), "{reply:?}");
    assert!(reply.text.contains("the key is (key)") && reply.model.chars().count() == 200, "{reply:?}");
    assert!(!reply.model.contains(char::is_control));
    assert!(budget.check().is_err(), "whatever it claims to have taken is taken for true");
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let held = Held::default();
    let silent = held.clone();
    let server = LlmServer::start(move |_| Answer::says(GOOD).held(&silent)).await;
    let llm = models(&server, Duration::from_millis(20)).open("hosted_vllm/m", None).unwrap();
    let error = score(&*llm).await.unwrap_err();
    assert!(matches!(error, LlmError::Unavailable { .. }) && error.may_pass(), "{error}");
    assert_eq!(server.asked().len(), 5);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_the_key() {
    let server = LlmServer::start(|_| Answer::says(GOOD)).await;
    let models = models(&server, Duration::from_secs(60));
    drop(server);
    for string in ["claude-x", "hosted_vllm/m"] {
        let error = score(&*models.open(string, None).unwrap()).await.unwrap_err();
        assert!(matches!(error, LlmError::Unavailable { .. }), "{error}");
        assert!(error.to_string().contains("127.0.0.1:") && !format!("{error:?}").contains(KEY), "{error:?}");
    }
}

#[tokio::test]
async fn no_error_holds_the_key_or_the_call() {
    let echo =
        |asked: &Asked| Answer::fails(400, &format!("wrong: {} {}", asked.key.as_deref().unwrap(), asked.last()));
    let server = LlmServer::start(echo).await;
    for string in ["claude-x", "hosted_vllm/m"] {
        let error = score(&*model(&server, string)).await.unwrap_err();
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(!text.contains(KEY) && !text.contains("Lisbon"), "{text}");
        }
    }
    let server =
        LlmServer::start(|asked| Answer::fails(401, &format!("wrong key {}", asked.key.as_deref().unwrap()))).await;
    let error = score(&*model(&server, "claude-x")).await.unwrap_err();
    assert!(error.to_string().contains("wrong key (key)"), "{error}");
}

#[tokio::test]
async fn a_spent_budget_stops_calls_before_they_are_made() {
    let server = LlmServer::start(|_| Answer::says_for(GOOD, (400, 50))).await;
    let llm = model(&server, "hosted_vllm/m");
    let budget = Budget::new(Some(900), None);
    assert!(ask(&*llm, &budget, &NoJournal, call(), |_| Ok(())).await.is_ok());
    assert!(ask(&*llm, &budget, &NoJournal, call(), |_| Ok(())).await.is_ok());
    let refused = ask(&*llm, &budget, &NoJournal, call(), |_| Ok(())).await;
    assert_eq!(refused.unwrap_err().to_string(), "the budget for language models is spent: 900 of 900 tokens");
    assert_eq!(server.asked().len(), 2);
}

/// The replies to a question, and its answer.
type KeptCall = (Vec<Reply>, Option<Value>);

/// Keeps calls in memory, as one job does: each question with its replies and its answer.
#[derive(Default)]
struct Memory(Mutex<HashMap<Digest, KeptCall>>);

#[async_trait::async_trait]
impl Journal for Memory {
    async fn find(&self, digest: Digest) -> Result<Option<Kept>, String> {
        Ok(self.0.lock().unwrap().get(&digest).map(|(replies, answer)| match (answer, replies.as_slice()) {
            (Some(_), [.., last]) => Kept::Answered(last.clone()),
            (None, [first]) => Kept::Malformed(first.clone()),
            (_, [first, .., last]) => Kept::MalformedTwice(Reply { stop: last.stop, ..first.clone() }),
            (_, []) => unreachable!("a kept call has a reply"),
        }))
    }

    async fn keep(&self, finished: Finished<'_>) -> Result<(), String> {
        self.0.lock().unwrap().insert(finished.digest, (finished.replies.to_vec(), finished.answer.cloned()));
        Ok(())
    }
}

#[tokio::test]
async fn a_question_in_the_journal_is_not_asked_again_also_when_it_was_mended() {
    let server = LlmServer::start(|asked| match asked.number {
        0 => Answer::says("no JSON"),
        _ => Answer::says(GOOD),
    })
    .await;
    let llm = model(&server, "hosted_vllm/m");
    let journal = Memory::default();
    for (calls, mended) in [(2, true), (0, false)] {
        let answered = ask(&*llm, &Budget::unbounded(), &journal, call(), |_| Ok(())).await.unwrap();
        assert_eq!((answered.calls, answered.mended), (calls, mended));
    }
    assert_eq!(server.asked().len(), 2);
    let kept = journal.0.lock().unwrap().values().next().cloned().unwrap();
    assert_eq!(kept.0.len(), 2);
    assert_eq!(kept.1, Some(serde_json::from_str(GOOD).unwrap()));
}

/// As it was said the first time, so that a job that is taken up again does what it would have done.
#[tokio::test]
async fn a_repair_that_was_declined_is_declined_when_found_in_the_journal() {
    let server = LlmServer::start(|asked| match asked.number {
        0 => Answer::says("no JSON"),
        _ => Answer::declines(),
    })
    .await;
    let llm = model(&server, "hosted_vllm/m");
    let journal = Memory::default();
    for _ in 0..2 {
        let refused = ask(&*llm, &Budget::unbounded(), &journal, call(), |_| Ok(())).await;
        assert!(matches!(refused, Err(LlmError::Declined { .. })), "{refused:?}");
    }
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn after_a_crash_the_repair_of_a_kept_reply_is_what_is_asked() {
    let server = LlmServer::start(|asked| match asked.number {
        0 => Answer::says("no JSON"),
        _ => Answer::says(GOOD),
    })
    .await;
    let llm = model(&server, "hosted_vllm/m");
    let journal = Memory::default();
    let first = llm.complete(&call(), &Budget::unbounded()).await.unwrap();
    journal.0.lock().unwrap().insert(call().digest(llm.model()), (vec![first], None));
    let answered = ask(&*llm, &Budget::unbounded(), &journal, call(), |_| Ok(())).await.unwrap();
    assert_eq!((answered.calls, answered.mended), (1, true));
    assert_eq!(server.asked()[1].turns.len(), 3);
}
