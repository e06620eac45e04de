//! Frames of findings and of calls to a judge, each sealed under the key of its trace inside a [`Bundle`](crate::sealed::Bundle).

use super::call::Purpose;
use super::finding::Finding;
use crate::frame::{BadFrame, decode, encode};
use crate::ids::{Digest, TraceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A finding in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingFrame {
    /// Its number in the report, from 0.
    pub ordinal: u32,
    /// Whether its pair is part of a dataset of at least the least size.
    pub included_in_training: bool,
    /// The finding.
    pub finding: Finding,
}

impl FindingFrame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never: its keys are strings.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        encode(b'F', self)
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        decode(b'F', bytes)
    }
}

/// A call to a judge with everything that is needed to look at it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeCallFrame {
    /// The trace.
    pub trace_id: TraceId,
    /// The action.
    pub step_index: u32,
    /// What it was for.
    pub purpose: Purpose,
    /// What an answer is found again by: [`Call::key`](super::Call::key) with the model and the parameters.
    pub key: Digest,
    /// Version of the prompts.
    pub prompt_version: u32,
    /// The parts of the question as they were sent, in order.
    pub question: Vec<String>,
    /// The model asked.
    pub model: String,
    /// How it was asked, such as the most tokens to write.
    pub parameters: Map<String, Value>,
    /// What it sent back, raw, one text for each round: a second one if the first was sent back for repair.
    pub replies: Vec<String>,
    /// The answer that was taken from them.
    pub answer: Value,
}

impl JudgeCallFrame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never: its keys are strings.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        encode(b'C', self)
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        decode(b'C', bytes)
    }
}
