//! An import format, as shown to people.

use serde::Serialize;
use utoipa::ToSchema;

/// A format that an import may name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Format {
    /// Its name in requests.
    #[schema(example = "openai_chat")]
    pub name: &'static str,
    /// What it reads, in a sentence.
    pub description: &'static str,
}
