//! What language models are used for: each use sends content to a third party, and can be switched off by itself.

use serde::{Deserialize, Serialize};

/// A use of language models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LlmPurpose {
    /// Titles of traces.
    Titles,
    /// Judging what agents did, for trainings.
    Learning,
}

impl LlmPurpose {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Titles, Self::Learning];

    /// The name, as in events, tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Titles => "titles",
            Self::Learning => "learning",
        }
    }

    /// The purpose of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for purpose in LlmPurpose::ALL {
            assert_eq!(LlmPurpose::parse(purpose.name()), Some(purpose));
        }
        assert_eq!(LlmPurpose::parse("judging"), None);
    }
}
