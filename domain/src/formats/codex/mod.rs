//! `codex`: rollout files of the Codex CLI. A file is one session and becomes one trace.
//!
//! | era | shape |
//! |---|---|
//! | a | one object, `{"session": {…}, "items": [item, …]}` |
//! | b | line 1 `{"id", "timestamp", "instructions"}`, then bare items, and markers `{"record_type": …}` |
//! | c | lines `{"timestamp", "type", "payload"}` |
//!
//! 1. [`line`] tells what a line is; [`item`] and [`event`] make [`Piece`]s of it: what was said, called, answered, taken back.
//! 2. [`turns`] goes through all of them at the end: events that repeat items go, context that was put in by the harness
//!    becomes system steps, turns that were taken back go, calls and results find each other.
//!
//! Pieces are held until the end of the file, up to [`IMPORT_HELD_BYTES_MAX`] bytes of them: a line at the end may take back
//! turns, and whether a text was typed by the person shows only when all events are known.

mod event;
mod item;
mod line;
mod meta;
mod turns;

use super::Format;
use super::common::look::Look;
use super::common::record::Bad;
use super::common::source::Source;
use super::common::values::Values;
use super::detect::Fit;
use super::report::{ReadError, ReadOptions, Report, TraceSink};
use crate::json::{Json, Object};
use crate::limits::IMPORT_HELD_BYTES_MAX;
use crate::trace::Role;
use line::Session;

/// The format.
pub(super) struct Codex;

const NAME: &str = "codex";

impl Format for Codex {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Rollout files of the Codex CLI, ~/.codex/sessions/**/rollout-*.jsonl, of every era, also the single JSON object of the \
         first. One trace per file."
    }

    fn fits(&self, look: &Look) -> Fit {
        let kind = look.at(&["type"]).and_then(Json::as_text).unwrap_or("");
        let enveloped = matches!(look.at(&["payload"]), Some(Json::Object(_))) && line::is_envelope(kind);
        let first_era = matches!(look.at(&["session"]), Some(Json::Object(_))) && look.has("items");
        let head = look.has("id") && look.has("timestamp") && look.has("instructions") && kind.is_empty();
        let own_part = |part: &Json| {
            matches!(part.get("type").and_then(Json::as_text), Some("input_text" | "output_text" | "input_image"))
        };
        let message =
            matches!(kind, "message" | "") && look.has("role") && look.items(&["content"]).iter().any(own_part);
        let call = look.has("call_id") && item::is_call_or_output(kind);
        let reasoning = kind == "reasoning" && look.has("summary");
        Fit::yes_if(enveloped || look.has("record_type") || first_era || head || message || call || reasoning)
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError> {
        let mut values = Values::new(NAME, options, sink);
        let mut session = Session::default();
        values.read(source, &mut |place, fields| session.take(place, fields))?;
        for (place, bad) in session.warnings.drain(..) {
            values.warn(place, bad);
        }
        let mut out = values.out();
        let head = session.meta.head(&mut out);
        match turns::steps(session.pieces, &mut out) {
            Ok(()) => match session.refused.filter(|_| out.steps == 0) {
                Some(why) => values.fault(Bad::new("", why))?,
                None => values.trace(head, out)?,
            },
            Err(bad) => values.fault(bad)?,
        }
        Ok(values.finish())
    }
}

/// Where a piece was written. Of copies of the same thing in one turn the first of these counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// What the model was sent or answered.
    Item,
    /// What the interface was told of it.
    Event,
    /// The same, in newer files.
    Completed,
}

/// One thing that happened.
#[derive(Debug)]
struct Piece {
    origin: Origin,
    /// When, in canonical form, if the file says so.
    at: Option<String>,
    what: What,
}

#[derive(Debug)]
enum What {
    /// Something said.
    Text { role: Role, text: String, metadata: Object },
    /// Something an agent was told by another one.
    Mail { text: String, metadata: Object },
    /// What the agent thought before its next step.
    Reasoning(String),
    /// A call of a tool.
    Call { id: Option<String>, name: String, input: Object, metadata: Object },
    /// Its result.
    Output { id: Option<String>, name: Option<String>, content: String, metadata: Object },
    /// Tokens that the agent's last step took.
    Usage(Object),
    /// So many of the person's last turns were taken back.
    RolledBack(u64),
}

impl Piece {
    /// About how many bytes it holds.
    fn bytes(&self) -> usize {
        let text = match &self.what {
            What::Text { text, .. } | What::Mail { text, .. } | What::Reasoning(text) => text.len(),
            What::Call { input, .. } => input.bytes_held(),
            What::Output { content, .. } => content.len(),
            What::Usage(_) | What::RolledBack(_) => 0,
        };
        text + 256
    }
}

fn too_large() -> Bad {
    Bad::new(
        "",
        format!(
            "the session holds more than {IMPORT_HELD_BYTES_MAX} bytes of text up to here; it cannot be imported whole"
        ),
    )
}
