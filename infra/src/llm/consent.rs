//! Whether an account allows that its content is sent, asked right before each call: a switch that was turned off holds from the
//! next call on, also within a job that has begun. A call that is under way then, with its retries, comes to its end.

use super::Llm;
use super::budget::Budget;
use super::call::{Call, Reply};
use super::error::LlmError;
use async_trait::async_trait;
use sqlx::PgPool;
use stash_domain::ids::OwnerId;
use stash_domain::llm::LlmPurpose;

/// Whether the account allows this use. One that never said anything does.
///
/// # Errors
/// Those of the database: nothing is sent then.
pub async fn allows(pool: &PgPool, owner: OwnerId, purpose: LlmPurpose) -> Result<bool, sqlx::Error> {
    let said: Option<bool> =
        sqlx::query_scalar(include_str!("consent.sql")).bind(owner.0).bind(purpose.name()).fetch_optional(pool).await?;
    Ok(said.unwrap_or(true))
}

/// A model that is asked about one account's content, for one use.
pub struct Consenting<'a> {
    /// The model.
    pub llm: &'a dyn Llm,
    /// Where it is looked up what the account allows.
    pub pool: &'a PgPool,
    /// Whose content it is.
    pub owner: OwnerId,
    /// What it is sent for.
    pub purpose: LlmPurpose,
}

#[async_trait]
impl Llm for Consenting<'_> {
    fn model(&self) -> &str {
        self.llm.model()
    }

    async fn complete(&self, call: &Call, budget: &Budget) -> Result<Reply, LlmError> {
        match allows(self.pool, self.owner, self.purpose).await {
            Ok(true) => self.llm.complete(call, budget).await,
            Ok(false) => Err(LlmError::SwitchedOff(self.purpose.name())),
            Err(error) => {
                tracing::warn!(%error, "it cannot be looked up whether a language model may be called");
                Err(LlmError::Journal("the database did not answer".to_owned()))
            }
        }
    }
}
