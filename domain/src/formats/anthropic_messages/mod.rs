//! `anthropic_messages`: requests and responses of the Messages API, in all the wrappings that they are stored in.
//!
//! | record | steps from |
//! |---|---|
//! | `{"system"?, "messages": […], …}`, a request or a conversation | `system`, `messages` |
//! | the same with a response under `response` or a key of its own | and the response after them |
//! | `{"custom_id", "params": {"messages": […], …}}`, batch input | `params.system`, `params.messages` |
//! | `{"custom_id", "result": {"type": "succeeded", "message": {…}}}`, batch output | the message |
//! | `{"type": "message", "role": "assistant", "content": […]}`, a response | its content |
//! | `[message, …]` | the array itself |

mod head;
mod message;

use super::Format;
use super::common::blocks::blocks;
use super::common::look::Look;
use super::common::read::read_records;
use super::common::record::{ArrayOf, Bad, HeadField, Holds, Out, RecordFormat, Stop};
use super::common::source::Source;
use super::common::turns::{Turns, Voice};
use super::detect::Fit;
use super::report::{ReadError, ReadOptions, Report, TraceSink};
use crate::json::Json;
use crate::trace::{Role, TraceHead};

/// The format.
pub(super) struct AnthropicMessages;

const NAME: &str = "anthropic_messages";

/// Keys of records; an array whose first element has one of them is an array of records.
const RECORD_KEYS: [&str; 7] = ["messages", "params", "request", "response", "result", "custom_id", "system"];

impl Format for AnthropicMessages {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Messages API of Anthropic: JSONL of {\"system\"?, \"messages\": [...]} with or without the response, bare arrays of \
         messages, batch input and output, plain responses. Tool use, server tools, thinking, documents and citations are read."
    }

    fn fits(&self, look: &Look) -> Fit {
        let requests = [&[][..], &["params"], &["request"], &["body"], &["input"]];
        let messages = |request: &[&str]| look.items(&[request, &["messages"]].concat()).iter().any(is_marked);
        let prompt = |request: &[&str]| {
            let has = |key| look.at(&[request, &[key]].concat()).is_some();
            has("system") && has("messages")
        };
        let batch = look.at(&["params", "messages"]).is_some() || look.at(&["result", "message"]).is_some();
        let answered =
            [&["response"][..], &["response", "body"]].iter().filter_map(|path| look.at(path)).any(is_response);
        let marked = look.array && is_marked(&look.value);
        let any = requests.iter().any(|request| messages(request) || prompt(request));
        Fit::yes_if(any || batch || answered || marked || is_response(&look.value) && !look.array)
            .or_maybe_if(is_response(&look.value))
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError> {
        read_records::<Self>(NAME, source, options, sink)
    }
}

/// Whether a message has a block that no other API has.
fn is_marked(message: &Json) -> bool {
    const BLOCKS: [&str; 5] = ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"];
    let Some(Json::List(blocks)) = message.get("content") else { return false };
    blocks.iter().any(|block| {
        let kind = block.get("type").and_then(Json::as_text).unwrap_or("");
        BLOCKS.contains(&kind) || matches!(kind, "image" | "document") && block.get("source").is_some()
    })
}

/// Whether it is a response of the API, and no item of another that is called a message too.
fn is_response(value: &Json) -> bool {
    let is_message = value.get("type").and_then(Json::as_text) == Some("message");
    let Some(Json::List(blocks)) = value.get("content") else { return false };
    let foreign =
        |block: &Json| matches!(block.get("type").and_then(Json::as_text), Some("input_text" | "output_text"));
    is_message && !blocks.iter().any(foreign)
}

/// Builds a trace message by message.
pub(crate) struct Builder {
    turns: Turns,
    /// The system prompt; it comes first.
    system: Option<Json>,
    /// The response; it comes last. And where it stands.
    answer: Option<(String, Json)>,
}

impl Builder {
    fn system(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        let Some(system) = self.system.take() else { return Ok(()) };
        self.turns.begin(Voice::new(Role::System), out)?;
        let found = blocks(system);
        found.warnings.into_iter().for_each(|warning| out.warn("system", warning));
        for piece in found.pieces {
            self.turns.piece(piece, out)?;
        }
        self.turns.end(out)
    }
}

impl RecordFormat for AnthropicMessages {
    const LISTS: usize = 1;

    const LISTS_IN_STRINGS: bool = true;

    type Builder = Builder;

    fn holds(path: &[String]) -> Holds {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        match keys.as_slice() {
            ["messages"] | ["params" | "request" | "body" | "input", "messages"] => Holds::Items(0),
            ["params" | "request" | "body" | "input"] => Holds::Inside,
            _ => Holds::Head,
        }
    }

    fn array_of(look: &Look) -> ArrayOf {
        let records = look.nested_array || RECORD_KEYS.iter().any(|key| look.has(key));
        if records { ArrayOf::Records } else { ArrayOf::Items }
    }

    fn begin(fields: Vec<HeadField>, out: &mut Out<'_>) -> Result<(TraceHead, Builder), Bad> {
        let found = head::read(fields, out)?;
        let builder = Builder { turns: Turns::new(false), system: found.system, answer: found.answer };
        Ok((found.head, builder))
    }

    fn item(builder: &mut Builder, _: usize, item: Json, out: &mut Out<'_>) -> Result<(), Stop> {
        builder.system(out)?;
        message::take(item, &mut builder.turns, out)
    }

    fn end(mut builder: Builder, out: &mut Out<'_>) -> Result<(), Stop> {
        builder.system(out)?;
        match builder.answer.take() {
            Some((path, answer)) => message::take(answer, &mut builder.turns, out).map_err(|stop| match stop {
                Stop::Bad(bad) => Stop::Bad(bad.within(&path)),
                other => other,
            }),
            None => Ok(()),
        }
    }
}
