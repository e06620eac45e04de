//! What is derived from the steps of a trace as they go by: ids, digests, counts, the title.
//!
//! Every way in uses it, so that a step has the same id and digest however it came. It can be stored and taken up again: what a
//! trace gains later costs nothing for what it had.

use super::frame::{StoredStep, SummaryFrame};
use super::step_id::StepIds;
use super::title::Titler;
use super::{Step, TraceHead};
use crate::ids::TraceId;
use crate::rendering::Digester;
use serde::{Deserialize, Serialize};

/// See the module's documentation.
#[derive(Clone, Serialize, Deserialize)]
pub struct Tally {
    #[serde(rename = "t")]
    trace: TraceId,
    #[serde(rename = "i")]
    ids: StepIds,
    #[serde(rename = "d")]
    digester: Digester,
    #[serde(rename = "n")]
    title: Titler,
    #[serde(rename = "s")]
    steps: u32,
    #[serde(rename = "a")]
    actions: u32,
}

impl Tally {
    /// Begins a trace. `step_id_key` is the key of its step ids, `title` one that came with it.
    pub fn new(trace: TraceId, step_id_key: [u8; 32], title: Option<String>) -> Self {
        Self {
            trace,
            ids: StepIds::new(step_id_key, trace),
            digester: Digester::new(),
            title: Titler::new(title),
            steps: 0,
            actions: 0,
        }
    }

    /// Takes the next step.
    pub fn take(&mut self, step: Step) -> StoredStep {
        self.title.see(&step);
        let action_digest = self.digester.step(&step);
        self.steps = self.steps.saturating_add(1);
        self.actions = self.actions.saturating_add(u32::from(action_digest.is_some()));
        StoredStep { id: self.ids.next(&step), step, action_digest }
    }

    /// Steps taken.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The summary of a trace that ends here. Its title is that of the tally, whatever the head says.
    pub fn summary(&self, head: TraceHead, span_count: u32) -> SummaryFrame {
        let (title, title_source) = self.title.clone().finish();
        SummaryFrame {
            trace_id: self.trace,
            external_id: head.external_id,
            title,
            title_source: title_source.name().to_owned(),
            title_basis: self.title.basis(),
            metadata: head.metadata,
            step_count: self.steps,
            action_count: self.actions,
            span_count,
            trace_digest: self.digester.current(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::ids::derive;
    use crate::trace::Role;
    use proptest::prelude::*;

    fn step(number: u8, call: bool) -> Step {
        Step {
            role: if number.is_multiple_of(3) { Role::User } else { Role::Assistant },
            content: format!("{}", number % 5),
            tool_name: (call && !number.is_multiple_of(3)).then(|| "f".to_owned()),
            tool_input: None,
            tool_call_id: None,
            metadata: None,
        }
    }

    proptest! {
        #[test]
        fn stored_and_taken_up_anywhere_it_gives_the_same(steps in prop::collection::vec(any::<(u8, bool)>(), 0..20), cut: u8) {
            let begin = || Tally::new(TraceId(derive("test", &[])), [7; 32], None);
            let (mut whole, mut parts) = (begin(), begin());
            let cut = usize::from(cut) % (steps.len() + 1);
            for (at, (number, call)) in steps.into_iter().enumerate() {
                if at == cut {
                    parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
                }
                prop_assert_eq!(whole.take(step(number, call)), parts.take(step(number, call)));
            }
            prop_assert_eq!(whole.summary(TraceHead::default(), 1), parts.summary(TraceHead::default(), 1));
        }
    }
}
