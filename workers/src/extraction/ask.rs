//! A question of the rules becomes a call, and its answer is checked by the rules.

use super::calls::{Calls, Of};
use serde_json::Value;
use stash_domain::learning::extraction::{Assessment, Call as Question, INSTRUCTIONS, Purpose};
use stash_infra::llm::{AnswerSchema, Budget, Call, Llm, LlmError, ask};
use std::sync::{Arc, OnceLock};

/// Tokens of an answer. Answers are short; models that think before they answer need the rest.
const ANSWER_TOKENS_MAX: u32 = 16_000;

/// A model that judges, and what it may take for one job.
pub struct Judge {
    /// The model.
    pub llm: Arc<dyn Llm>,
    /// Tokens of one job.
    pub tokens_max: u64,
    /// Millionths of a US dollar of one job.
    pub cost_microusd_max: Option<u64>,
}

/// Who judges what nobody has rated.
#[derive(Clone)]
pub enum Judging {
    /// This model.
    By(Arc<Judge>),
    /// Nobody, so that models learn from ratings alone: why, and what to do about it.
    Nobody(String),
}

/// The call that puts a question.
pub(super) fn call_of(question: &Question) -> Result<Call, LlmError> {
    let schema = schema_of(question.purpose)?;
    Ok(Call::new(INSTRUCTIONS, question.task.as_str(), ANSWER_TOKENS_MAX)
        .with_context(question.context.as_str())
        .with_answer(schema))
}

/// The schema of a purpose's answers, read once.
fn schema_of(purpose: Purpose) -> Result<Arc<AnswerSchema>, LlmError> {
    static SCHEMAS: [OnceLock<Result<Arc<AnswerSchema>, String>>; 3] = [const { OnceLock::new() }; 3];
    let [feedback, judgment, review] = &SCHEMAS;
    let place = match purpose {
        Purpose::Feedback => feedback,
        Purpose::Judgment => judgment,
        Purpose::Review => review,
    };
    let read = || AnswerSchema::new(purpose.name(), purpose.schema()).map(Arc::new).map_err(|wrong| wrong.to_string());
    place.get_or_init(read).clone().map_err(|reason| LlmError::NotConfigured { model: "any".to_owned(), reason })
}

/// Puts the assessment's next question and gives it the answer. `false`: there was none.
pub(super) async fn ask_next(
    llm: &dyn Llm,
    budget: &Budget,
    calls: &dyn Calls,
    assessment: &mut Assessment,
) -> Result<bool, LlmError> {
    let Some(question) = assessment.call() else { return Ok(false) };
    let journal = Of { calls, question: &question };
    let check = |answer: &Value| assessment.check(answer).map(|()| answer.clone()).map_err(|wrong| wrong.to_string());
    let model = llm.model();
    let answered = match ask(llm, budget, &journal, call_of(&question)?, check).await {
        Ok(answered) => answered,
        Err(LlmError::Declined { .. }) => {
            assessment.declined(model);
            return Ok(true);
        }
        Err(error) => return Err(error),
    };
    assessment
        .answer(&answered.answer, model)
        .map_err(|wrong| LlmError::Malformed { model: model.to_owned(), reason: wrong.to_string() })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_purpose_has_a_schema_that_can_be_checked() {
        for purpose in [Purpose::Feedback, Purpose::Judgment, Purpose::Review] {
            assert_eq!(schema_of(purpose).unwrap().name(), purpose.name());
        }
    }
}
