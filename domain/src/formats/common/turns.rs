//! Steps from pieces: what the content blocks of messages become, one message after another.
//!
//! 1. Texts that follow one another in a message are one step; each call and each result is a step of its own, in place.
//! 2. Reasoning goes into `metadata.reasoning` of the next step of the agent in its message.
//! 3. A summary that stands for what was said before is a user step with `metadata.compaction`.
//! 4. Empty texts are no steps; a result always is.

use super::blocks::{Answer, Call, Piece};
use super::call_ids::CallIds;
use super::record::{Bad, Out, Stop};
use super::shared;
use crate::json::{Json, Object, Value};
use crate::limits::TRACE_HEAD_BYTES_MAX;
use crate::trace::{Role, Step};
use std::collections::BTreeMap;

/// What is known of a message beside its content.
#[derive(Clone, Debug)]
pub(crate) struct Voice {
    /// Who speaks.
    pub(crate) role: Role,
    /// Metadata of every step of the message.
    pub(crate) each: Object,
    /// Metadata of its first step.
    pub(crate) first: Object,
    /// Metadata of its first step of the agent.
    pub(crate) agent: Object,
    /// Whether its texts are joined without a line feed.
    pub(crate) glued: bool,
}

impl Voice {
    /// Of someone of whom nothing else is known.
    pub(crate) fn new(role: Role) -> Self {
        Self { role, each: Object::new(), first: Object::new(), agent: Object::new(), glued: false }
    }
}

/// A step of text that may go on.
struct Run {
    role: Role,
    text: String,
    /// Whether what stands last is a mark, which never joins without a line feed.
    ends_with_mark: bool,
    metadata: Object,
}

/// Writes the steps of a trace.
pub(crate) struct Turns {
    calls: CallIds,
    voice: Voice,
    run: Option<Run>,
    reasoning: Option<String>,
    /// Notes that wait for a step.
    notes: BTreeMap<String, Vec<Value>>,
    note_bytes: usize,
    /// Whether texts of white space alone count as empty.
    drop_blank: bool,
    /// Reasonings that no step went with.
    pub(crate) reasoning_lost: u64,
}

impl Turns {
    /// Begins a trace. `drop_blank`: whether texts of white space alone count as empty.
    pub(crate) fn new(drop_blank: bool) -> Self {
        let voice = Voice::new(Role::User);
        Self {
            calls: CallIds::default(),
            voice,
            run: None,
            reasoning: None,
            notes: BTreeMap::new(),
            note_bytes: 0,
            drop_blank,
            reasoning_lost: 0,
        }
    }

    /// The next message begins.
    pub(crate) fn begin(&mut self, voice: Voice, out: &mut Out<'_>) -> Result<(), Stop> {
        self.end(out)?;
        self.voice = voice;
        Ok(())
    }

    /// The same message goes on: its texts may still join, its reasoning still waits for a step.
    pub(crate) fn go_on(&mut self, voice: Voice) {
        self.voice = voice;
    }

    /// Takes the next piece of the message.
    pub(crate) fn piece(&mut self, piece: Piece, out: &mut Out<'_>) -> Result<(), Stop> {
        match piece {
            Piece::Text(text) => self.text(&text, false, out),
            Piece::Mark(mark) => self.text(&mark, true, out),
            Piece::Reasoning(text) => {
                if !text.trim().is_empty() {
                    join(self.reasoning.get_or_insert_default(), "\n", &text);
                }
                Ok(())
            }
            Piece::Call(call) => self.call(*call, out),
            Piece::Result(answer) => self.result(*answer, out),
            Piece::Compaction(text) => self.compaction(text, out),
            Piece::Note(note) => {
                let (name, value) = *note;
                self.note_bytes += value.compact().len();
                if self.note_bytes > TRACE_HEAD_BYTES_MAX {
                    let message =
                        format!("blocks of the type {name} have more than {TRACE_HEAD_BYTES_MAX} bytes together");
                    return Err(Bad::new("content", message).into());
                }
                self.notes.entry(name).or_default().push(value.into_value());
                Ok(())
            }
        }
    }

    /// Ends the text that may still go on: what comes next stands apart from it.
    pub(crate) fn pause(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        let Some(mut run) = self.run.take() else { return Ok(()) };
        if run.role == Role::Assistant {
            self.add_reasoning(&mut run.metadata);
        }
        out.step(Step {
            role: run.role,
            content: run.text,
            tool_name: None,
            tool_input: None,
            tool_call_id: None,
            metadata: run.metadata.some(),
        })
    }

    /// Ends the message.
    pub(crate) fn end(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        self.pause(out)?;
        if self.reasoning.take().is_some() {
            self.reasoning_lost += 1;
        }
        Ok(())
    }

    fn text(&mut self, text: &str, is_mark: bool, out: &mut Out<'_>) -> Result<(), Stop> {
        if text.is_empty() || self.drop_blank && text.trim().is_empty() {
            return Ok(());
        }
        let role = self.voice.role;
        if self.run.as_ref().is_some_and(|run| run.role != role) {
            self.pause(out)?;
        }
        if self.run.is_none() {
            let mut metadata = self.metadata(role);
            if role == Role::Assistant {
                self.add_reasoning(&mut metadata);
            }
            self.run = Some(Run { role, text: String::new(), ends_with_mark: false, metadata });
        }
        if let Some(run) = &mut self.run {
            let glued = self.voice.glued && !is_mark && !run.ends_with_mark;
            join(&mut run.text, if glued { "" } else { "\n" }, text);
            run.ends_with_mark = is_mark;
        }
        Ok(())
    }

    fn call(&mut self, call: Call, out: &mut Out<'_>) -> Result<(), Stop> {
        // Reasoning between a text and a call belongs to the call.
        let reasoning = self.reasoning.take();
        self.pause(out)?;
        if let Some(reasoning) = reasoning {
            join(self.reasoning.get_or_insert_default(), "\n", &reasoning);
        }
        let mut metadata = self.metadata(Role::Assistant);
        self.add_reasoning(&mut metadata);
        metadata.fill(call.metadata);
        let id = self.calls.call(call.id, &call.name);
        out.step(Step {
            role: Role::Assistant,
            content: String::new(),
            tool_name: Some(call.name),
            tool_input: Some(call.input),
            tool_call_id: Some(id),
            metadata: metadata.some(),
        })
    }

    fn result(&mut self, answer: Answer, out: &mut Out<'_>) -> Result<(), Stop> {
        self.pause(out)?;
        let mut metadata = self.metadata(Role::Tool);
        if answer.is_error {
            metadata.insert("is_error", true);
        }
        let (id, called) = self.calls.result(answer.id, answer.tool.as_deref());
        out.step(Step {
            role: Role::Tool,
            content: answer.text,
            tool_name: answer.tool.or(called),
            tool_input: None,
            tool_call_id: Some(id),
            metadata: metadata.some(),
        })
    }

    fn compaction(&mut self, content: String, out: &mut Out<'_>) -> Result<(), Stop> {
        self.pause(out)?;
        if content.trim().is_empty() {
            return Ok(());
        }
        let mut metadata = self.metadata(Role::User);
        metadata.insert("compaction", true);
        let (tool_name, tool_input, tool_call_id) = (None, None, None);
        out.step(Step { role: Role::User, content, tool_name, tool_input, tool_call_id, metadata: metadata.some() })
    }

    /// Metadata of the message's next step, which is one of this role.
    fn metadata(&mut self, role: Role) -> Object {
        let mut metadata = std::mem::take(&mut self.voice.first);
        let notes = std::mem::take(&mut self.notes).into_iter();
        metadata.append(notes.map(|(name, notes)| (name, Value::List(notes))).collect());
        self.note_bytes = 0;
        if role == Role::Assistant {
            metadata.append(std::mem::take(&mut self.voice.agent));
        }
        metadata.append(shared::metadata(&mut self.voice.each));
        metadata
    }

    /// Adds the reasoning so far.
    fn add_reasoning(&mut self, metadata: &mut Object) {
        let Some(more) = self.reasoning.take() else { return };
        match metadata.get_mut("reasoning") {
            Some(Value::Text(text)) => join(text, "\n", &more),
            _ => metadata.insert("reasoning", more),
        }
    }
}

fn join(text: &mut String, by: &str, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str(by);
    }
    text.push_str(more);
}

/// Puts the results of a message before all else: they answer what came before it, and the person speaks after them.
pub(crate) fn results_first(pieces: &mut [Piece]) {
    pieces.sort_by_key(|piece| !matches!(piece, Piece::Result(_)));
}

/// The tokens that a model reports, under the names they have in metadata.
pub(crate) fn usage(recorded: &Json) -> Object {
    const NAMES: [(&str, &str); 3] = [
        ("input_tokens", "input_tokens"),
        ("output_tokens", "output_tokens"),
        ("cache_read_input_tokens", "cached_tokens"),
    ];
    let mut usage = Object::new();
    for (recorded_name, name) in NAMES {
        if let Some(Json::Number(number)) = recorded.get(recorded_name) {
            usage.insert(name, number.clone());
        }
    }
    if usage.is_empty() { Object::new() } else { Object::of("usage", usage) }
}
