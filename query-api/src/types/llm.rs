//! What language models are used for.

use serde::Serialize;
use utoipa::ToSchema;

/// Models that this deployment uses, by what for; none: it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlmModels {
    /// Writes titles.
    pub titles: Option<String>,
    /// Judges what agents did.
    pub learning: Option<String>,
}

/// What language models are used for on the account's content. Each use sends some of it to the model's provider.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LlmProcessing {
    /// Titles of traces that come without one.
    pub titles: LlmUse,
    /// Judging what agents did, for trainings.
    pub learning: LlmUse,
}

/// One use.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LlmUse {
    /// Whether the account allows it.
    pub allowed: bool,
    /// The model that the deployment uses for it; null: none is set up, so that nothing is sent whatever is allowed.
    #[schema(required = true)]
    pub model: Option<String>,
}
