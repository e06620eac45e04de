//! The input cut into batches: what the reading thread hands to the sealer.

use super::ImportError;
use stash_domain::formats::{Judgment, SinkError, TraceSink};
use stash_domain::json::Object;
use stash_domain::trace::{Span, Step, TraceHead};
use tokio::sync::mpsc;

/// Approximate bytes of one batch. Keys are made once per batch, so small traces share the round trip.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Pieces of one batch, for traces of tiny steps.
const BATCH_PIECES_MAX: usize = 50_000;

/// A piece of a trace.
pub enum Piece {
    /// A trace begins.
    Begin(TraceHead),
    /// Its next step.
    Step(Step),
    /// Its next span.
    Span(Span),
    /// What was judged of it where it was recorded.
    Judgment(Judgment),
    /// It is complete.
    End,
}

/// Pieces in the order of the input; a trace may go over several batches.
pub type Batch = Vec<Piece>;

/// Gathers pieces and sends full batches.
pub struct Pieces {
    sender: mpsc::Sender<Batch>,
    batch: Batch,
    bytes: usize,
}

impl Pieces {
    /// Sends to this channel; it waits while the channel is full.
    pub fn new(sender: mpsc::Sender<Batch>) -> Self {
        Self { sender, batch: Vec::new(), bytes: 0 }
    }

    /// Sends what is left.
    ///
    /// # Errors
    /// [`ImportError::Stopped`] when the sealer has failed; its own error says why.
    pub fn finish(mut self) -> Result<(), ImportError> {
        self.send().map_err(|_| ImportError::Stopped)
    }

    fn push(&mut self, piece: Piece, bytes: usize) -> Result<(), SinkError> {
        self.batch.push(piece);
        self.bytes += bytes;
        if self.bytes >= BATCH_BYTES || self.batch.len() >= BATCH_PIECES_MAX {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), SinkError> {
        self.bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        if !batch.is_empty() {
            self.sender.blocking_send(batch).map_err(|_| "the sealer has stopped")?;
        }
        Ok(())
    }
}

impl TraceSink for Pieces {
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError> {
        let bytes = head_bytes(&head);
        self.push(Piece::Begin(head), bytes)
    }

    fn step(&mut self, step: Step) -> Result<(), SinkError> {
        let bytes = step_bytes(&step);
        self.push(Piece::Step(step), bytes)
    }

    fn span(&mut self, span: Span) -> Result<(), SinkError> {
        let bytes = span_bytes(&span);
        self.push(Piece::Span(span), bytes)
    }

    fn judgment(&mut self, judgment: Judgment) -> Result<(), SinkError> {
        let bytes = judgment_bytes(&judgment);
        self.push(Piece::Judgment(judgment), bytes)
    }

    fn end(&mut self) -> Result<(), SinkError> {
        self.push(Piece::End, 16)
    }
}

/// Roughly the bytes of what stands above the steps, in memory and in a record.
fn head_bytes(head: &TraceHead) -> usize {
    let texts = [&head.external_id, &head.title];
    texts.into_iter().flatten().map(String::len).sum::<usize>() + head.metadata.bytes_held() + 512
}

/// Roughly the bytes of a step, in memory and in a frame.
pub(super) fn step_bytes(step: &Step) -> usize {
    let texts = [Some(&step.content), step.tool_name.as_ref(), step.tool_call_id.as_ref()];
    texts.into_iter().flatten().map(String::len).sum::<usize>()
        + step.tool_input.as_ref().map_or(0, Object::bytes_held)
        + step.metadata.as_ref().map_or(0, Object::bytes_held)
        + 256
}

/// Roughly the bytes of a span, in memory and in a frame.
pub(super) fn span_bytes(span: &Span) -> usize {
    let names = [Some(&span.id), span.parent_id.as_ref(), Some(&span.name), span.kind.as_ref()];
    let texts = names.into_iter().chain([span.input.as_ref(), span.output.as_ref()]);
    texts.flatten().map(String::len).sum::<usize>() + 4 * span.step_indices.len() + 256
}

/// Roughly the bytes of a judgment, in memory and in a frame.
pub(super) fn judgment_bytes(judgment: &Judgment) -> usize {
    let texts = [judgment.comment.as_ref(), judgment.origin.as_ref(), Some(&judgment.key), Some(&judgment.name)];
    texts.into_iter().flatten().map(String::len).sum::<usize>() + 256
}

#[cfg(test)]
mod tests {
    use super::*;
    use stash_domain::json::Value;

    /// A megabyte, wherever a piece can hold it.
    fn large() -> Vec<Piece> {
        let text = || "x".repeat(1 << 20);
        let object = || Object::of("a", Value::List(vec![Value::Text(text())]));
        let head = |title, metadata| Piece::Begin(TraceHead { external_id: None, title, metadata });
        let step = || Step {
            role: stash_domain::trace::Role::Tool,
            content: String::new(),
            tool_name: None,
            tool_input: None,
            tool_call_id: None,
            metadata: None,
        };
        let span = || Span {
            id: "s".to_owned(),
            parent_id: None,
            name: String::new(),
            kind: None,
            start_ns: 0,
            end_ns: 0,
            input: None,
            output: None,
            step_indices: Vec::new(),
        };
        vec![
            head(Some(text()), Object::new()),
            head(None, object()),
            Piece::Step(Step { content: text(), ..step() }),
            Piece::Step(Step { tool_name: Some(text()), ..step() }),
            Piece::Step(Step { tool_call_id: Some(text()), ..step() }),
            Piece::Step(Step { tool_input: Some(object()), ..step() }),
            Piece::Step(Step { metadata: Some(object()), ..step() }),
            Piece::Span(Span { id: text(), ..span() }),
            Piece::Span(Span { parent_id: Some(text()), ..span() }),
            Piece::Span(Span { name: text(), ..span() }),
            Piece::Span(Span { kind: Some(text()), ..span() }),
            Piece::Span(Span { input: Some(text()), ..span() }),
            Piece::Span(Span { output: Some(text()), ..span() }),
        ]
    }

    #[test]
    fn a_batch_is_sent_when_it_is_large_whatever_makes_it_so() {
        for kind in 0..large().len() {
            let (sender, mut batches) = mpsc::channel(100);
            let mut pieces = Pieces::new(sender);
            for _ in 0..10 {
                match large().remove(kind) {
                    Piece::Begin(head) => pieces.begin(head).unwrap(),
                    Piece::Step(step) => pieces.step(step).unwrap(),
                    Piece::Span(span) => pieces.span(span).unwrap(),
                    Piece::Judgment(_) | Piece::End => unreachable!(),
                }
            }
            pieces.finish().unwrap();
            while let Ok(batch) = batches.try_recv() {
                assert!(batch.len() <= 4, "kind {kind}: {} megabytes in a batch", batch.len());
            }
        }
    }
}
