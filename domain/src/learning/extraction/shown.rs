//! How a judge is shown a trace: one JSON object per line.
//!
//! A string in JSON cannot end its line, so that nothing a trace says can leave its place: not a quotation mark, not a new line,
//! not a text that looks like another record or like instructions. The lines of a context are the beginning of the next target's
//! context as long as nothing had to be left out, so that a provider can reuse what it has read.

use super::material::{Material, Target, is_by_person};
use crate::rendering::{canonical_json, push_string};
use crate::trace::{Role, Step};
use std::fmt::Write as _;

/// Characters shown of one step of the context.
const STEP_CHARS: usize = 6_000;

/// Characters shown of the action itself, and of each candidate.
pub(super) const ACTION_CHARS: usize = 24_000;

/// Characters shown of a message or comment that may be cited.
pub(super) const EVIDENCE_CHARS: usize = 8_000;

/// Characters shown of a step that stands between the action and evidence.
pub(super) const BETWEEN_CHARS: usize = 800;

/// Bytes of a whole context. About 16,000 tokens.
const CONTEXT_BYTES: usize = 64_000;

/// Bytes of it that the first steps have: system prompts and what was asked for at first.
const HEAD_BYTES: usize = 16_000;

/// Steps among which those first ones are looked for.
const HEAD_STEPS: usize = 8;

/// The record before a target: its first steps, then as many of those right before it as there is room for.
pub(super) fn context(material: &Material, target: &Target) -> String {
    let end = usize::try_from(target.step_index).unwrap_or(usize::MAX);
    let before = material.steps().get(..end).unwrap_or_default();
    let line = |place: usize| before.get(place).map(|shown| step_line(place, &shown.step, STEP_CHARS));
    let (mut head, mut head_bytes) = (Vec::new(), 0_usize);
    for place in 0..before.len().min(HEAD_STEPS) {
        let Some(line) = line(place) else { break };
        if head_bytes + line.len() > HEAD_BYTES {
            break;
        }
        head_bytes += line.len();
        head.push(line);
    }
    let (mut tail, mut tail_bytes) = (Vec::new(), 0_usize);
    for place in (head.len()..before.len()).rev() {
        let Some(line) = line(place) else { break };
        if head_bytes + tail_bytes + line.len() > CONTEXT_BYTES {
            break;
        }
        tail_bytes += line.len();
        tail.push(line);
    }
    let left_out = before.len().saturating_sub(head.len() + tail.len());
    let mut out = String::with_capacity(head_bytes + tail_bytes + 64);
    head.iter().for_each(|line| out.push_str(line));
    if left_out > 0 {
        let _ = writeln!(out, "{{\"steps_left_out\": {left_out}}}");
    }
    tail.iter().rev().for_each(|line| out.push_str(line));
    out
}

/// The line of a step.
pub(crate) fn step_line(place: usize, step: &Step, chars: usize) -> String {
    let mut out = format!("{{\"step\": {place}, ");
    push_step(&mut out, step, chars);
    out.push_str("}\n");
    out
}

/// What a line says of a step, without its braces.
pub(super) fn push_step(out: &mut String, step: &Step, chars: usize) {
    let _ = write!(out, "\"role\": \"{}\"", step.role.name());
    if step.role == Role::User && !is_by_person(step) {
        out.push_str(", \"by\": \"machine\"");
    }
    if step.role == Role::Tool
        && let Some(name) = &step.tool_name
    {
        out.push_str(", \"result_of\": ");
        push_string(out, name);
    }
    if !step.content.is_empty() || step.tool_name.is_none() {
        push_text(out, "text", &step.content, chars);
    }
    if step.role == Role::Assistant
        && let Some(name) = &step.tool_name
    {
        out.push_str(", \"call\": {\"tool_name\": ");
        push_string(out, name);
        let arguments = step.tool_input.as_ref().map_or_else(|| "{}".to_owned(), canonical_json);
        if arguments.chars().count() <= chars {
            let _ = write!(out, ", \"tool_input\": {arguments}");
        } else {
            push_text(out, "tool_input_as_text", &arguments, chars);
        }
        out.push('}');
    }
}

/// A key and a text, its middle left out if it is longer.
pub(super) fn push_text(out: &mut String, key: &str, text: &str, chars: usize) {
    let count = text.chars().count();
    let _ = write!(out, ", \"{key}\": ");
    if count <= chars {
        push_string(out, text);
        return;
    }
    let (head, tail) = (chars * 2 / 3, chars / 3);
    let at = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    push_string(out, text.get(..at(head)).unwrap_or_default());
    let _ = write!(out, ", \"characters_left_out\": {}, \"{key}_end\": ", count.saturating_sub(head + tail));
    push_string(out, text.get(at(count.saturating_sub(tail))..).unwrap_or_default());
}
