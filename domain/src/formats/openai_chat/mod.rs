//! `openai_chat`: messages of the Chat Completions API, in all the wrappings that they are stored in.
//!
//! | record | steps from |
//! |---|---|
//! | `{"messages": […], …}`, for fine-tuning, with any further columns | `messages` |
//! | `[message, …]` | the array itself |
//! | `{"input": {"messages": […]}, "preferred_output": […], …}`, preference pairs | both, in this order |
//! | `{"custom_id", "body": {"messages": […]}}`, batch input | `body.messages` |
//! | `{"custom_id", "response": {"body": {"choices": […]}}}`, batch output | the first choice |
//! | `{"choices": […]}`, a response | the first choice |

mod message;

use super::Format;
use super::common::call_ids::CallIds;
use super::common::head::HeadBuilder;
use super::common::look::Look;
use super::common::read::read_records;
use super::common::record::{ArrayOf, Bad, HeadField, Holds, Out, RecordFormat, Stop};
use super::common::source::Source;
use super::detect::Fit;
use super::report::{ReadError, ReadOptions, Report, TraceSink};
use crate::json::Json;
use crate::trace::TraceHead;

/// The format.
pub(super) struct OpenaiChat;

const NAME: &str = "openai_chat";

/// Keys of records; an array whose first element has one of them is an array of records.
const RECORD_KEYS: [&str; 6] = ["messages", "preferred_output", "body", "response", "choices", "custom_id"];

impl Format for OpenaiChat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Chat Completions messages: JSONL of {\"messages\": [...]} (fine-tuning files), bare arrays of messages, preference \
         pairs, batch input and output, plain responses. Tool calls, deprecated function calls and content parts are read."
    }

    fn fits(&self, look: &Look) -> Fit {
        let records = [&["messages"][..], &["body", "messages"], &["input", "messages"]];
        let marked = records.iter().any(|path| look.items(path).iter().any(is_marked));
        let batch = look.has("custom_id") && (look.has("body") || look.has("response"));
        let plain = records.iter().any(|path| look.at(path).is_some()) || batch || look.array && look.has("role");
        Fit::yes_if(
            marked || look.array && is_marked(&look.value) || look.has("choices") || look.has("preferred_output"),
        )
        .or_maybe_if(plain)
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

/// Whether a message has what only Chat Completions write.
fn is_marked(message: &Json) -> bool {
    let role = message.get("role").and_then(Json::as_text).unwrap_or("");
    let keys = ["tool_calls", "function_call", "tool_call_id"];
    matches!(role, "tool" | "function" | "developer") && message.get("content").is_some()
        || keys.iter().any(|key| !matches!(message.get(key), None | Some(Json::Null)))
}

/// Builds a trace message by message.
pub(crate) struct Builder {
    calls: CallIds,
    /// The message of a response's first choice; it comes last.
    answer: Option<Json>,
}

const MESSAGES: usize = 0;
const PREFERRED: usize = 1;

impl RecordFormat for OpenaiChat {
    const LISTS: usize = 2;

    const LISTS_IN_STRINGS: bool = true;

    type Builder = Builder;

    fn holds(path: &[String]) -> Holds {
        let mut keys = path.iter().map(String::as_str);
        match (keys.next(), keys.next(), keys.next()) {
            (Some("messages"), None, _) | (Some("input" | "body"), Some("messages"), None) => Holds::Items(MESSAGES),
            (Some("preferred_output"), None, _) => Holds::Items(PREFERRED),
            (Some("input" | "body" | "response"), None, _) | (Some("response"), Some("body"), None) => Holds::Inside,
            _ => Holds::Head,
        }
    }

    fn array_of(look: &Look) -> ArrayOf {
        let records = look.nested_array || RECORD_KEYS.iter().any(|key| look.has(key));
        if records { ArrayOf::Records } else { ArrayOf::Items }
    }

    fn begin(fields: Vec<HeadField>, out: &mut Out<'_>) -> Result<(TraceHead, Builder), Bad> {
        let mut head = HeadBuilder::default();
        let (mut custom_id, mut answer, mut usage) = (None, None, None);
        for (path, value) in fields {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            match keys.as_slice() {
                ["id"] => head.external_id("id", value)?,
                ["custom_id"] => custom_id = Some(value),
                ["metadata"] => match value {
                    Json::Object(_) | Json::Null => head.metadata(value)?,
                    other => head.extra(path, other)?,
                },
                ["model"] | ["body" | "input", "model"] | ["response", "body", "model"] => head.fact("model", value),
                ["user"] | ["body" | "input", "user"] => head.fact("user", value),
                ["choices"] | ["response", "body", "choices"] => answer = first_choice(&path.join("."), value, out)?,
                ["usage"] | ["response", "body", "usage"] => match tokens(&value) {
                    Some(tokens) => usage = Some(tokens),
                    None => head.extra(path, value)?,
                },
                _ => head.extra(path, value)?,
            }
        }
        if let (Some(Json::Object(fields)), Some(usage)) = (&mut answer, usage) {
            fields.push(("usage".to_owned(), usage));
        }
        if let Some(id) = custom_id {
            if head.has_external_id() {
                head.extra(vec!["custom_id".to_owned()], id)?;
            } else {
                head.external_id("custom_id", id)?;
            }
        }
        Ok((head.finish(out), Builder { calls: CallIds::default(), answer }))
    }

    fn item(builder: &mut Builder, _: usize, item: Json, out: &mut Out<'_>) -> Result<(), Stop> {
        message::take(item, &mut builder.calls, out)
    }

    fn end(mut builder: Builder, out: &mut Out<'_>) -> Result<(), Stop> {
        match builder.answer.take() {
            Some(answer) => message::take(answer, &mut builder.calls, out).map_err(|stop| match stop {
                Stop::Bad(bad) => Stop::Bad(bad.within("choices[0].message")),
                other => other,
            }),
            None => Ok(()),
        }
    }
}

/// The tokens that a response took, by the names they have in a trace.
fn tokens(usage: &Json) -> Option<Json> {
    let details = usage.get("prompt_tokens_details").or_else(|| usage.get("input_tokens_details"));
    let found = [
        ("input_tokens", usage.get("prompt_tokens").or_else(|| usage.get("input_tokens"))),
        ("output_tokens", usage.get("completion_tokens").or_else(|| usage.get("output_tokens"))),
        ("cached_tokens", details.and_then(|details| details.get("cached_tokens"))),
    ];
    let is_number = |count: &&Json| matches!(count, Json::Number(_));
    let found = found.into_iter().filter_map(|(name, count)| Some((name.to_owned(), count.filter(is_number)?.clone())));
    let found: Vec<_> = found.collect();
    (!found.is_empty()).then_some(Json::Object(found))
}

/// The message of choice 0. Other choices are alternatives, not steps.
fn first_choice(path: &str, choices: Json, out: &mut Out<'_>) -> Result<Option<Json>, Bad> {
    let choices = match choices {
        Json::List(choices) => choices,
        Json::Null => return Ok(None),
        other => return Err(Bad::new(path, format!("must be an array, not {}", other.kind()))),
    };
    let count = choices.len();
    let is_first = |choice: &Json| matches!(choice.get("index"), Some(Json::Number(number)) if number.as_str() == "0");
    let at = choices.iter().position(is_first).unwrap_or(0);
    let Some(mut choice) = choices.into_iter().nth(at) else { return Ok(None) };
    if count > 1 {
        out.warn(path, format!("{} further choices were left out: only the first is a step", count - 1));
    }
    let assistant = ("role".to_owned(), Json::Text("assistant".to_owned()));
    Ok(match (choice.take("message"), choice.take("text")) {
        (Some(Json::Object(mut fields)), _) => {
            if !fields.iter().any(|(key, _)| key == "role") {
                fields.push(assistant);
            }
            Some(Json::Object(fields))
        }
        (_, Some(text @ Json::Text(_))) => Some(Json::Object(vec![assistant, ("content".to_owned(), text)])),
        _ => None,
    })
}
