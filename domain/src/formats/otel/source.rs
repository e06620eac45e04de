//! A span as the merging sees it, and as the canonical trace shows it.

use super::carriers::{Carried, Recording, Spoken, carried};
use super::{facts, kind, tool};
use crate::formats::common::clean::{drop_nul, drop_nul_in_object, drop_nul_in_step, has_replacement};
use crate::formats::merge::{SourceKind, SourceSpan, ToolUse};
use crate::formats::observed::spans::raw;
use crate::formats::turns::{Side, taken_out, turns};
use crate::json::{Json, Value};
use crate::otel::{OtelLog, OtelSpan};
use crate::trace::{Role, Span, Step};

/// Attributes that hold a raw input or output, best first.
const INPUTS: [&str; 7] = [
    "gen_ai.input.messages",
    "input.value",
    "traceloop.entity.input",
    "ai.prompt.messages",
    "ai.prompt",
    "llm.input_messages",
    "gen_ai.prompt",
];
const OUTPUTS: [&str; 7] = [
    "gen_ai.output.messages",
    "output.value",
    "traceloop.entity.output",
    "ai.response.text",
    "ai.response.object",
    "llm.output_messages",
    "gen_ai.completion",
];

/// Warnings kept of the messages of one span.
const WARNINGS_MAX: usize = 20;

/// What one span gives.
pub(super) struct Read {
    pub(super) source: SourceSpan,
    /// None for a span of which only log records are known, and for one without any time.
    pub(super) span: Option<Span>,
    /// Whether the span's input and output were left out of it: see [`Texts::Left`].
    pub(super) texts_left: bool,
    pub(super) warnings: Vec<String>,
    /// Whether it is a call of a model.
    pub(super) is_call: bool,
}

/// What becomes of the input and the output of a span as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// They are made.
    Made,
    /// They are left out where [`said`] makes the same of the span alone.
    Left,
}

/// The input and the output of a span without log records, as the trace shows them.
pub fn said(span: &OtelSpan) -> (Option<String>, Option<String>) {
    let named = kind::kind_of(span);
    let named = named.as_deref();
    let recording = Recording { span, logs: &[], speaks: kind::speaks(named) };
    let own = own_texts(span, named == Some("tool"));
    let found = if kind::may_speak(named) { carried(recording) } else { None };
    texts(own, found.as_ref())
}

/// Reads a span with its log records.
pub(super) fn read(span: &OtelSpan, logs: &[OtelLog], recorded: bool, wanted: Texts) -> Read {
    let mut warnings = Vec::new();
    let texts_left = wanted == Texts::Left && recorded && logs.is_empty();
    let named = kind::kind_of(span);
    let named = named.as_deref();
    let may_speak = kind::may_speak(named);
    let speaks = kind::speaks(named);
    let times = times(span, &mut warnings);
    let is_shown = recorded && times.is_some();
    // Before what was said is put together, which may take many times what a text does.
    let own = if is_shown && !texts_left { own_texts(span, named == Some("tool")) } else { (None, None) };
    let found = if may_speak { carried(Recording { span, logs, speaks }) } else { None };
    let source_kind = kind::source_kind(named, found.as_ref());
    let is_call = source_kind == SourceKind::Llm;
    let shown_kind = named.map(str::to_owned).or_else(|| found.is_some().then(|| "llm".to_owned()));
    // Of the attributes, since what is left out is not looked at.
    let attributes = || span.attributes.0.iter().filter_map(|(_, value)| value.as_text());
    let mut has_nul = attributes().any(|text| text.contains('\0'));
    let mut is_replaced = has_replacement(&span.name) || attributes().any(has_replacement);
    let mut shown = if recorded { times.map(|times| shown(span, shown_kind, times, &mut has_nul)) } else { None };
    if recorded && times.is_none() {
        warnings.push("the span has neither start nor end; it was left out of the trace's spans".to_owned());
    }
    if let (Some(shown), false) = (&mut shown, texts_left) {
        (shown.input, shown.output) = texts(own, found.as_ref());
    }
    let (mut input, mut output) = found.map(|found| steps(found, &mut warnings)).unwrap_or_default();
    for step in input.iter_mut().chain(&mut output) {
        has_nul |= drop_nul_in_step(step);
        // Of the steps too: what stands in JSON within a text is replaced when it is taken out of it.
        is_replaced = is_replaced || step_is_replaced(step);
    }
    let (start_ns, end_ns) = times.unwrap_or_default();
    let mut source = SourceSpan {
        id: span.span_id.to_string(),
        parent: span.parent.map(|parent| parent.to_string()),
        kind: source_kind,
        start_ns,
        end_ns,
        input,
        output,
        ..SourceSpan::default()
    };
    if source_kind == SourceKind::Tool {
        let mut used = tool::tool_use(span);
        has_nul |= drop_nul_in_tool_use(&mut used);
        is_replaced = is_replaced || used.input.as_ref().is_some_and(|input| input.any_text(&has_replacement));
        source.tool = Some(Box::new(used));
    }
    if is_call {
        source.facts = facts::of_call(span);
        has_nul |= drop_nul_in_object(&mut source.facts);
    }
    if has_nul {
        warnings.push(NUL.to_owned());
    }
    if is_replaced {
        warnings.push(REPLACED.to_owned());
    }
    Read { source, span: shown, texts_left, warnings, is_call }
}

/// Start and end as a trace may have them; none if neither was recorded. 0 and the largest number stand for "unknown".
fn times(span: &OtelSpan, warnings: &mut Vec<String>) -> Option<(u64, u64)> {
    let known = |time_ns: u64| (time_ns != 0 && time_ns != u64::MAX).then_some(time_ns);
    match (known(span.start_ns), known(span.end_ns)) {
        (Some(start), Some(end)) if end >= start => Some((start, end)),
        (Some(start), end) => {
            let message = if end.is_some() { "the end is before the start" } else { "the end is missing" };
            warnings.push(format!("{message}; the start was taken for it"));
            Some((start, start))
        }
        (None, Some(end)) => {
            warnings.push("the start is missing; the end was taken for it".to_owned());
            Some((end, end))
        }
        (None, None) => None,
    }
}

/// The span without its input and output.
fn shown(span: &OtelSpan, kind: Option<String>, (start_ns, end_ns): (u64, u64), has_nul: &mut bool) -> Span {
    let mut shown = Span {
        id: span.span_id.to_string(),
        parent_id: span.parent.map(|parent| parent.to_string()),
        name: span.name.clone(),
        kind,
        start_ns,
        end_ns,
        input: None,
        output: None,
        step_indices: Vec::new(),
    };
    for name in [Some(&mut shown.name), shown.kind.as_mut()].into_iter().flatten() {
        *has_nul |= drop_nul(name);
    }
    shown
}

/// Input and output as attributes of the span hold them.
fn own_texts(span: &OtelSpan, is_tool: bool) -> (Option<String>, Option<String>) {
    let text = |names: &[&str]| raw(names.iter().find_map(|name| span.attributes.held(name)).as_deref());
    match is_tool {
        true => (raw(tool::arguments(span).as_deref()), raw(tool::result(span).as_deref())),
        false => (text(&INPUTS), text(&OUTPUTS)),
    }
}

/// Input and output as they are shown: the span's own, else what was said, without NUL.
fn texts(own: (Option<String>, Option<String>), found: Option<&Carried>) -> (Option<String>, Option<String>) {
    let spoken = |messages: &[Spoken]| match messages {
        [] => None,
        [only] => raw(Some(&only.json)),
        many => Some(Json::compact_list(many.iter().map(|spoken| &spoken.json))),
    };
    let (input, output) = own;
    let mut input = input.or_else(|| spoken(&found?.input));
    let mut output = output.or_else(|| spoken(&found?.output));
    for text in input.iter_mut().chain(&mut output) {
        drop_nul(text);
    }
    (input, output)
}

/// What is said when NUL was dropped.
const NUL: &str = "NUL characters were dropped from text";

/// What is said where something stands in place of what was no Unicode.
const REPLACED: &str = "text holds U+FFFD, in place of lone surrogates or of bytes that were no UTF-8";

fn step_is_replaced(step: &Step) -> bool {
    [Some(&step.content), step.tool_name.as_ref()].into_iter().flatten().any(|text| has_replacement(text))
        || [&step.tool_input, &step.metadata].into_iter().flatten().any(|object| object.any_text(&has_replacement))
}

fn drop_nul_in_tool_use(used: &mut ToolUse) -> bool {
    let mut dropped = false;
    for text in used.call_id.iter_mut().chain(&mut used.name).chain(&mut used.result) {
        dropped |= drop_nul(text);
    }
    used.input.iter_mut().map(drop_nul_in_object).fold(dropped, |any, now| any | now)
}

/// The steps that a call was given, and those that it answered.
fn steps(found: Carried, warnings: &mut Vec<String>) -> (Vec<Step>, Vec<Step>) {
    let mut before = warnings.len();
    let mut given = Vec::new();
    if let Some(system) = found.system {
        given.extend(turns(&instructions(system), Side::Input, warnings));
    }
    let first = given.first().map(|step: &Step| step.content.trim().to_owned());
    let mut input = spoken(found.input, Side::Input, warnings);
    // Some record the instructions twice: apart, and as the first message.
    let repeats = |step: &Step| step.role == Role::System && Some(step.content.trim()) == first.as_deref();
    if input.first().is_some_and(repeats) {
        input.remove(0);
    }
    given.append(&mut input);
    let output = spoken(found.output, Side::Output, warnings);
    if output.iter().any(|step| step.role == Role::Assistant && looks_like_a_call(&step.content)) {
        warnings.push("a text looks like a tool call written as source text; it was kept as text".to_owned());
    }
    // A call with very many strange parts says so once and again; some are enough.
    before = before.saturating_add(WARNINGS_MAX);
    warnings.truncate(before);
    (given, output)
}

/// Instructions as a message: a text, parts, or what is a message already.
fn instructions(recorded: Json) -> Json {
    let recorded = taken_out(&recorded).unwrap_or(recorded);
    if recorded.get("role").is_some() {
        return recorded;
    }
    let is_message = |item: &Json| item.get("role").is_some();
    let (key, content) = match recorded {
        Json::List(items) if items.iter().any(is_message) => return Json::List(items),
        parts @ Json::List(_) => ("parts", parts),
        part @ Json::Object(_) => ("parts", Json::List(vec![part])),
        text => ("content", text),
    };
    let role = ("role".to_owned(), Json::Text("system".to_owned()));
    Json::Object(vec![role, (key.to_owned(), content)])
}

/// The steps of what was spoken. Messages of one time are read together, since one may refer to another.
fn spoken(messages: Vec<Spoken>, side: Side, warnings: &mut Vec<String>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut messages = messages.into_iter().peekable();
    while let Some(first) = messages.next() {
        let mut together = vec![first.json];
        if !first.whole {
            while let Some(next) = messages.next_if(|next| next.time_ns == first.time_ns && !next.whole) {
                together.push(next.json);
            }
        }
        let recorded = match <[Json; 1]>::try_from(together) {
            Ok([only]) => only,
            Err(many) => Json::List(many),
        };
        let mut found = turns(&recorded, side, warnings);
        set_time(&mut found, first.time_ns);
        steps.append(&mut found);
    }
    steps
}

/// Gives steps the time at which they were recorded, unless they have one. 0 is no time.
fn set_time(steps: &mut [Step], time_ns: u64) {
    if time_ns == 0 {
        return;
    }
    let Ok(moment) = jiff::Timestamp::from_nanosecond(i128::from(time_ns)) else { return };
    for step in steps {
        let metadata = step.metadata.get_or_insert_default();
        metadata.insert_missing("timestamp", || Value::Text(moment.to_string()));
    }
}

/// `ToolCall(id='c1', function=Function(arguments=…))`
fn looks_like_a_call(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches('[');
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = text.split_at_checked(length).unwrap_or_default();
    name.contains("Call") && rest.starts_with('(') && rest.contains('=')
}
