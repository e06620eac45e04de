//! A title of a trace, written by a language model: asked, checked, mended once.

use crate::llm::budget::Spent;
use crate::llm::{AnswerSchema, Budget, Call, Llm, LlmError, NoJournal, ask};
use stash_domain::titling::{INSTRUCTIONS, SCHEMA, read};
use std::sync::{Arc, OnceLock};

/// Tokens of an answer. A title has twenty; models that think before they answer need the rest.
const ANSWER_TOKENS_MAX: u32 = 2_000;

/// Asks for the title of what the question shows ([`Excerpt::question`](stash_domain::titling::Excerpt::question)). What it took is
/// told in any case.
pub async fn title(llm: &dyn Llm, question: &str) -> (Result<String, LlmError>, Spent) {
    let budget = Budget::unbounded();
    let outcome = asked(llm, &budget, question).await;
    (outcome, budget.spent())
}

async fn asked(llm: &dyn Llm, budget: &Budget, question: &str) -> Result<String, LlmError> {
    let call = Call::new(INSTRUCTIONS, question, ANSWER_TOKENS_MAX).with_answer(schema()?);
    let answered = ask(llm, budget, &NoJournal, call, read).await?;
    Ok(answered.answer)
}

fn schema() -> Result<Arc<AnswerSchema>, LlmError> {
    static READ: OnceLock<Result<Arc<AnswerSchema>, String>> = OnceLock::new();
    let made = || AnswerSchema::new("title", SCHEMA.trim_ascii_end()).map(Arc::new).map_err(|wrong| wrong.to_string());
    READ.get_or_init(made).clone().map_err(|reason| LlmError::NotConfigured { model: "any".to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_can_be_checked() {
        assert_eq!(schema().unwrap().name(), "title");
    }
}
