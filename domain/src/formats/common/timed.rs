//! Steps beside which stands what their call says of them.

use crate::json::{Object, Value};
use crate::trace::Step;
use jiff::Timestamp;
use std::sync::Arc;

/// A step on its way to a trace, and what its call says of it. In its metadata each would have that as texts of its own; steps that wait
/// by the thousand share it here.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedStep {
    /// The step.
    pub step: Step,
    /// Nanoseconds since the epoch; 0 if unknown.
    pub time_ns: u64,
    /// Metadata that it shares with the other answers of its call.
    pub facts: Option<Arc<Object>>,
}

impl TimedStep {
    /// The step with its facts and its time in its metadata, as far as it has none of its own there.
    pub fn stamped(mut self) -> Step {
        if let Some(facts) = self.facts.filter(|facts| !facts.is_empty()) {
            self.step.metadata.get_or_insert_default().fill(Object::clone(&facts));
        }
        stamp(&mut self.step, self.time_ns);
        self.step
    }

    /// Puts a better record of the step in its place; what was known of it stays.
    pub(crate) fn replace(&mut self, mut better: Step) {
        let mut metadata = better.metadata.take().unwrap_or_default();
        if self.time_ns != 0 {
            metadata.remove("timestamp");
        }
        for (name, _) in self.facts.iter().flat_map(|facts| facts.iter()) {
            metadata.remove(name);
        }
        metadata.append(self.step.metadata.take().unwrap_or_default());
        better.metadata = metadata.some();
        self.step = better;
    }
}

impl From<Step> for TimedStep {
    /// With nothing beside it.
    fn from(step: Step) -> Self {
        Self { step, time_ns: 0, facts: None }
    }
}

/// Gives a step its time, unless it has one. 0 is no time.
pub(crate) fn stamp(step: &mut Step, time_ns: u64) {
    if time_ns == 0 {
        return;
    }
    let Ok(moment) = Timestamp::from_nanosecond(i128::from(time_ns)) else { return };
    let metadata = step.metadata.get_or_insert_default();
    metadata.insert_missing("timestamp", || Value::Text(moment.to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Role;
    use serde_json::{Value, json};

    fn step(metadata: Value) -> Step {
        serde_json::from_value(json!({"role": "assistant", "content": "a", "metadata": metadata})).unwrap()
    }

    fn timed(metadata: Value) -> TimedStep {
        let facts: Object = serde_json::from_value(json!({"model": "m", "status": "ok"})).unwrap();
        TimedStep { step: step(metadata), time_ns: 1_700_000_000_000_000_000, facts: Some(Arc::new(facts)) }
    }

    #[test]
    fn what_a_step_says_itself_stands_before_what_its_call_says() {
        let stamped = timed(json!({"model": "own"})).stamped().metadata;
        assert_eq!(json!(stamped), json!({"model": "own", "status": "ok", "timestamp": "2023-11-14T22:13:20Z"}));
        let stamped = timed(json!({"timestamp": "2020-01-01T00:00:00Z"})).stamped().metadata.unwrap();
        assert_eq!(json!(stamped.get("timestamp")), "2020-01-01T00:00:00Z");
        assert_eq!(TimedStep::from(Step { metadata: None, ..step(json!({})) }).stamped().metadata, None);
    }

    #[test]
    fn a_better_record_takes_time_and_facts_of_the_first() {
        let mut held = timed(json!({"a": 1}));
        held.replace(Step {
            role: Role::Assistant,
            content: "b".to_owned(),
            ..step(json!({"a": 2, "b": 2, "status": "error", "timestamp": "later"}))
        });
        let found = held.stamped();
        assert_eq!(found.content, "b");
        let expected = json!({"a": 1, "b": 2, "model": "m", "status": "ok", "timestamp": "2023-11-14T22:13:20Z"});
        assert_eq!(json!(found.metadata), expected);
    }
}
