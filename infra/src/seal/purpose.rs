//! What a sealed value is for. The purpose is authenticated with the ciphertext, so that a value cannot be moved from one field
//! to another.

/// A kind of sealed field. Its name is part of every ciphertext: a purpose once used must never be renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Purpose(&'static str);

impl Purpose {
    /// Frames of the traces that an import brings.
    pub const TRACE_FRAMES: Self = Self::new("trace-frames");
    /// Judgments that came with an import's traces.
    pub const JUDGMENT_FRAMES: Self = Self::new("judgment-frames");
    /// Frames of spans and log records that were sent live.
    pub const OTEL_FRAMES: Self = Self::new("otel-frames");
    /// Text of an annotation.
    pub const ANNOTATION_TEXT: Self = Self::new("annotation-text");
    /// Name of a reward model.
    pub const MODEL_NAME: Self = Self::new("model-name");
    /// Sides of the pairs that a model was trained on.
    pub const PAIR_FRAMES: Self = Self::new("pair-frames");
    /// Calls to a judge, with what it answered.
    pub const JUDGE_CALL_FRAMES: Self = Self::new("judge-call-frames");
    /// Findings of a training.
    pub const FINDING_FRAMES: Self = Self::new("finding-frames");
    /// A title that did not come with an import.
    pub const TITLE_FRAME: Self = Self::new("title-frame");
    /// Scores of traces and actions.
    pub const SCORE_FRAMES: Self = Self::new("score-frames");

    /// A purpose with this name: 1 to 255 bytes.
    ///
    /// # Panics
    /// When the name is empty or too long; in a constant that fails the build.
    pub const fn new(name: &'static str) -> Self {
        assert!(!name.is_empty() && name.len() <= u8::MAX as usize, "a purpose has 1 to 255 bytes");
        Self(name)
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}
