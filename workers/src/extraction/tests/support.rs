//! Conversations, a judge that answers by script over HTTP, and calls kept in memory.

use crate::extraction::assess::{Asking, assess};
use crate::extraction::calls::Calls;
use async_trait::async_trait;
use serde_json::Value;
use stash_domain::ids::{AnnotationId, Digest, StepId, TraceId};
use stash_domain::learning::extraction::{Call as Question, Comment, Finding, Harvest, IdStep, Material, Settings};
use stash_domain::trace::{Role, Step};
use stash_infra::clock::SystemClock;
use stash_infra::config::{Environment, LlmSettings};
use stash_infra::llm::{Budget, Finished, Kept, Llm, LlmError, Llms, Reply};
use stash_infra::testing::llm::LlmServer;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use uuid::Uuid;

pub(super) fn say(role: Role, content: &str) -> Step {
    Step { role, content: content.to_owned(), tool_name: None, tool_input: None, tool_call_id: None, metadata: None }
}

pub(super) fn user(content: &str) -> Step {
    say(Role::User, content)
}

pub(super) fn agent(content: &str) -> Step {
    say(Role::Assistant, content)
}

pub(super) fn material(steps: Vec<Step>) -> Arc<Material> {
    commented(steps, &[])
}

/// With comments of a reviewer on steps.
pub(super) fn commented(steps: Vec<Step>, comments: &[(usize, &str)]) -> Arc<Material> {
    let id = |place: usize| StepId(Uuid::from_u128(1000 + place as u128));
    let steps = steps.into_iter().enumerate().map(|(place, step)| IdStep { id: id(place), step }).collect();
    let comments = comments.iter().map(|(place, text)| Comment {
        annotation_id: AnnotationId(Uuid::from_u128(5000)),
        step_id: Some(id(*place)),
        text: (*text).to_owned(),
        label_error: false,
        by_person: true,
    });
    Material::of(TraceId(Uuid::from_u128(1)), steps, comments.collect())
}

/// A conversation of so many questions and answers, about different things.
pub(super) fn conversation(answers: usize) -> Arc<Material> {
    let turns = (0..answers).flat_map(|n| [user(&format!("Question {n}?")), agent(&format!("Answer {n}."))]);
    material(turns.collect())
}

pub(super) fn model(server: &LlmServer) -> Arc<dyn Llm> {
    let settings = LlmSettings::read(&Environment::of([("HOSTED_VLLM_API_BASE", server.base())])).unwrap();
    Llms::new(settings, Arc::new(SystemClock)).unwrap().open("hosted_vllm/judge", None).unwrap()
}

/// The replies to a question, and its answer.
type KeptCall = (Vec<Reply>, Option<Value>);

/// Calls kept in memory, as the log keeps them for one job. After so many it stands still, as a process that is killed right
/// then.
#[derive(Default)]
pub(super) struct Memory {
    kept: Mutex<HashMap<Digest, KeptCall>>,
    /// How often each call was kept: every one of them must be once.
    times: Mutex<BTreeMap<String, usize>>,
    dies_after: Mutex<Option<usize>>,
    died: Notify,
}

impl Memory {
    pub(super) fn die_after(&self, calls: usize) {
        *self.dies_after.lock().unwrap() = Some(calls);
    }

    pub(super) fn live(&self) {
        *self.dies_after.lock().unwrap() = None;
    }

    pub(super) async fn died(&self) {
        self.died.notified().await;
    }

    /// Calls kept more than once.
    pub(super) fn repeated(&self) -> usize {
        self.times.lock().unwrap().values().filter(|times| **times > 1).count()
    }

    pub(super) fn calls(&self) -> usize {
        self.times.lock().unwrap().len()
    }
}

#[async_trait]
impl Calls for Memory {
    async fn find(&self, _: &Question, digest: Digest) -> Result<Option<Kept>, String> {
        Ok(self.kept.lock().unwrap().get(&digest).map(|(replies, answer)| match (answer, replies.as_slice()) {
            (Some(_), [.., last]) => Kept::Answered(last.clone()),
            (None, [first]) => Kept::Malformed(first.clone()),
            (_, [first, .., last]) => Kept::MalformedTwice(Reply { stop: last.stop, ..first.clone() }),
            (_, []) => unreachable!("a kept call has a reply"),
        }))
    }

    async fn keep(&self, _: &Question, finished: Finished<'_>) -> Result<(), String> {
        let name = format!("{}/{}", finished.digest, finished.replies.len());
        let dies = {
            self.kept.lock().unwrap().insert(finished.digest, (finished.replies.to_vec(), finished.answer.cloned()));
            let mut times = self.times.lock().unwrap();
            *times.entry(name).or_default() += 1;
            self.dies_after.lock().unwrap().is_some_and(|after| times.len() >= after)
        };
        if dies {
            self.died.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

/// Assesses a trace: its findings.
pub(super) async fn extract(
    llm: &dyn Llm,
    calls: &dyn Calls,
    material: &Arc<Material>,
) -> Result<Vec<Finding>, LlmError> {
    extract_up_to(llm, calls, material, 1000, &Budget::unbounded()).await
}

pub(super) async fn extract_up_to(
    llm: &dyn Llm,
    calls: &dyn Calls,
    material: &Arc<Material>,
    max_pairs: usize,
    budget: &Budget,
) -> Result<Vec<Finding>, LlmError> {
    let mut harvest = Harvest::new(BTreeMap::new(), 0, max_pairs);
    let asking = Asking { llm, budget, calls, settings: Settings::default() };
    assess(&asking, material, &mut harvest, &mut 0).await?;
    Ok(harvest.into_findings())
}
