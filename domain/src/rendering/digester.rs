//! Digests of all texts of a trace in one pass over its steps.

use super::v1::{Form, render_step};
use crate::ids::Digest;
use crate::trace::Step;
use sha2::{Digest as _, Sha256};

/// Fed step by step, gives the digest of each action's text and, at the end, of the trace's text.
///
/// An action's text is a prefix of the trace's, so that one running hash, copied at each action, gives them all: time grows
/// with the trace, memory with its largest step.
#[derive(Clone, Debug, Default)]
pub struct Digester {
    hash: Sha256,
    any: bool,
}

impl Digester {
    /// Starts a trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next step; the digest of the action text that ends here, if the step is an action.
    pub fn step(&mut self, step: &Step) -> Option<Digest> {
        let segment = render_step(step, Form::ChatMl)?;
        if self.any {
            self.hash.update(b"\n");
        }
        self.any = true;
        self.hash.update(segment.as_bytes());
        step.action_type().map(|_| self.current())
    }

    /// Digest of the text so far: of the prior context, before the step of an action is taken; of the trace, after the last.
    pub fn current(&self) -> Digest {
        Digest(self.hash.clone().finalize().into())
    }
}
