//! What goes into a reading and what comes out of it.

use super::judgment::{Judgment, ScoreMap};
use crate::limits::IMPORT_RECORD_BYTES_IN_MEMORY;
use crate::trace::{Span, Step, TraceHead};
use serde::{Deserialize, Serialize};

/// Issues of one kind that a report lists one by one; beyond, they are only counted. At about 300 bytes each, 300 kB.
pub const ISSUES_LISTED_MAX: usize = 1000;

/// A failure of the sink itself, such as a full disk.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Takes traces piece by piece: `begin`, every `step`, every `span`, `end`; then the next trace.
pub trait TraceSink {
    /// A trace begins.
    ///
    /// # Errors
    /// Whatever stops the sink; the reading ends with [`ReadError::Sink`].
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError>;

    /// Its next step.
    ///
    /// # Errors
    /// As for [`TraceSink::begin`].
    fn step(&mut self, step: Step) -> Result<(), SinkError>;

    /// Its next span; all spans come after all steps.
    ///
    /// # Errors
    /// As for [`TraceSink::begin`].
    fn span(&mut self, span: Span) -> Result<(), SinkError>;

    /// Something that was judged of it where it was recorded; all judgments come after all spans. A sink that keeps none leaves
    /// this as it is.
    ///
    /// # Errors
    /// As for [`TraceSink::begin`].
    fn judgment(&mut self, judgment: Judgment) -> Result<(), SinkError> {
        let _ = judgment;
        Ok(())
    }

    /// The trace is complete.
    ///
    /// # Errors
    /// As for [`TraceSink::begin`].
    fn end(&mut self) -> Result<(), SinkError>;
}

/// What a record in error means for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The reading ends there.
    #[default]
    Fail,
    /// It is listed as skipped, and the reading goes on.
    Skip,
}

/// How to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// What to do about a record in error.
    pub on_error: OnError,
    /// Bytes of a record that is still parsed in memory; the result never depends on it.
    pub record_bytes_in_memory: usize,
    /// Scores that are ratings, beyond those that are known to be.
    pub score_map: ScoreMap,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            on_error: OnError::default(),
            record_bytes_in_memory: IMPORT_RECORD_BYTES_IN_MEMORY,
            score_map: ScoreMap::default(),
        }
    }
}

/// Something wrong or noteworthy at a place of the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// Line, from 1.
    pub line: u64,
    /// Byte offset in the input, from 0.
    pub offset: u64,
    /// Path of the field within its record, such as `steps[2].role`; none when it concerns the record as a whole.
    pub field: Option<String>,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} (byte {})", self.line, self.offset)?;
        if let Some(field) = &self.field {
            write!(f, ", {field}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Issues, the first [`ISSUES_LISTED_MAX`] of them one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The first ones.
    pub first: Vec<Issue>,
    /// How many there are in all.
    pub count: u64,
}

impl Listed {
    /// Adds one.
    pub fn push(&mut self, issue: Issue) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < ISSUES_LISTED_MAX {
            self.first.push(issue);
        }
    }
}

/// What a reading found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Name of the format; the one recognised, after `auto`.
    pub format: &'static str,
    /// Traces handed to the sink.
    pub traces: u64,
    /// Steps in all of them.
    pub steps: u64,
    /// Spans in all of them.
    pub spans: u64,
    /// Bytes of the input.
    pub bytes: u64,
    /// What was changed or left out without loss of the trace.
    pub warnings: Listed,
    /// Records not taken, with the reason.
    pub skipped: Listed,
}

/// Why a reading ended early.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A record breaks a rule, and errors were not to be skipped.
    #[error("{0}")]
    Input(Issue),
    /// There is no format of this name.
    #[error("unknown format {name:?}; known are {}", known.join(", "))]
    UnknownFormat {
        /// The name asked for.
        name: String,
        /// All names.
        known: Vec<&'static str>,
    },
    /// `auto` found no format that the input has the shape of.
    #[error(
        "{}; tried {}. Name the format if you know it",
        why.unwrap_or("the input has the shape of no known format"),
        tried.join(", ")
    )]
    NotRecognised {
        /// All names, in the order tried.
        tried: Vec<&'static str>,
        /// What the input is instead, and what to bring, if its shape is known and not read.
        why: Option<&'static str>,
    },
    /// The input could not be read.
    #[error("the input could not be read")]
    Io(#[from] std::io::Error),
    /// The sink failed.
    #[error("the traces could not be taken in")]
    Sink(#[source] SinkError),
}
