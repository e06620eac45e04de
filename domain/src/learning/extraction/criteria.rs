//! The four criteria by which actions are judged, and the ones that a target is judged by.

use serde::{Deserialize, Serialize};

/// What an action is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// Whether it brings the task forward.
    TaskCompletion,
    /// Whether it keeps to what it was told.
    InstructionAdherence,
    /// Whether what it says is backed by what it has seen.
    EvidenceGrounding,
    /// Whether it is as sure as it has reason to be.
    AppropriateUncertainty,
}

impl Criterion {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::TaskCompletion, Self::InstructionAdherence, Self::EvidenceGrounding, Self::AppropriateUncertainty];

    /// The name in answers of a judge.
    pub fn id(self) -> &'static str {
        match self {
            Self::TaskCompletion => "task_completion",
            Self::InstructionAdherence => "instruction_adherence",
            Self::EvidenceGrounding => "evidence_grounding",
            Self::AppropriateUncertainty => "appropriate_uncertainty",
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::TaskCompletion => "task completion",
            Self::InstructionAdherence => "instruction adherence",
            Self::EvidenceGrounding => "evidence grounding",
            Self::AppropriateUncertainty => "appropriate uncertainty",
        }
    }

    /// What a judge is told of it.
    pub fn question(self) -> &'static str {
        match self {
            Self::TaskCompletion => {
                "does the action bring what was asked for forward, at this moment, by a step that is needed and enough?"
            }
            Self::InstructionAdherence => {
                "does the action keep to the instructions and limits given in the record, in what it does and in its form?"
            }
            Self::EvidenceGrounding => {
                "is every statement and every argument of the action backed by the record before it, with nothing made up?"
            }
            Self::AppropriateUncertainty => {
                "is the action as sure as the record allows: open about what it cannot know, and not hesitant about what it can?"
            }
        }
    }
}

/// The criteria of one target: two of the four, or all of them, in the order of [`Criterion::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sample(pub(super) Vec<Criterion>);

impl Sample {
    /// All four.
    pub fn all() -> Self {
        Self(Criterion::ALL.to_vec())
    }

    /// The criteria, in order.
    pub fn criteria(&self) -> &[Criterion] {
        &self.0
    }

    /// Their names for people, joined by commas.
    pub fn names(&self) -> String {
        self.0.iter().map(|criterion| criterion.name()).collect::<Vec<_>>().join(", ")
    }

    /// The lines of a prompt that ask for them.
    pub(super) fn questions(&self) -> String {
        self.0.iter().map(|criterion| format!("- {}: {}\n", criterion.id(), criterion.question())).collect()
    }
}
