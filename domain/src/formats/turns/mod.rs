//! Turns from whatever was recorded as the input or output of a call.
//!
//! Tracing tools store what a library was given and what it gave back, in that library's own form, often as JSON within
//! strings. [`turns`] takes any of them and gives atomic steps: a text, a call, a result each; a call id that was not recorded
//! is none. It never fails: what has no known form stays as text, for then nothing that was said is lost.
//!
//! A value is looked at in this order: JSON or a Python literal within a string is taken out ([`strings`]), an envelope is
//! opened ([`envelope`]), a list is told by its items ([`list`]), a message is read ([`message`]), whatever its dialect. The
//! dialects, one file each, say how their parts, calls and items look.

mod ai_sdk;
mod builder;
mod calls;
mod envelope;
mod events;
mod fields;
mod gemini;
mod langchain;
mod list;
mod message;
mod otel_parts;
mod parts;
mod prefixed;
mod python;
mod responses;
mod strings;

#[cfg(test)]
mod tests;

use crate::json::Json;
use crate::trace::{Role, Step};
use builder::Builder;
use std::collections::HashSet;

pub(crate) use strings::taken_out;

/// Envelopes opened around each other. Deeper ones stay text.
const ENVELOPES_MAX: usize = 12;

/// Which side of a call it is: who speaks where no role is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// What the call was given: the person.
    Input,
    /// What it answered: the agent.
    Output,
}

impl Side {
    fn role(self) -> Role {
        match self {
            Self::Input => Role::User,
            Self::Output => Role::Assistant,
        }
    }
}

/// The steps of a recorded value; what was changed or left out is added to the warnings.
pub(crate) fn turns(recorded: &Json, side: Side, warnings: &mut Vec<String>) -> Vec<Step> {
    let mut builder = Builder::new(side);
    value(recorded, ENVELOPES_MAX, &mut builder);
    builder.finish(warnings)
}

/// The turns of both sides of a call. What the output says of the system was given to the call, so it goes to the input.
pub(crate) fn of_call(input: &Json, output: &Json, warnings: &mut Vec<String>) -> (Vec<Step>, Vec<Step>) {
    let input = turns(input, Side::Input, warnings);
    let output = turns(output, Side::Output, warnings);
    if !output.iter().any(|step| step.role == Role::System) {
        return (input, output);
    }
    let (first, output) = output.into_iter().partition(|step| step.role == Role::System);
    (before(first, input), output)
}

/// What the output says of the system before the input, as far as that does not say it too.
fn before(mut first: Vec<Step>, input: Vec<Step>) -> Vec<Step> {
    let said = input.iter().filter(|step| step.role == Role::System).map(|step| step.content.as_str());
    let said: HashSet<&str> = said.collect();
    first.retain(|system| !said.contains(system.content.as_str()));
    first.extend(input);
    first
}

/// What both sides of a call say of the system, as [`of_call`] gives it to the input.
pub(crate) fn system_of_call(input: &Json, output: &Json) -> Vec<Step> {
    let said = |recorded: &Json, side: Side| {
        let mut builder = Builder::of_system(side);
        value(recorded, ENVELOPES_MAX, &mut builder);
        builder.finish(&mut Vec::new())
    };
    before(said(output, Side::Output), said(input, Side::Input))
}

/// Takes any value.
fn value(recorded: &Json, levels: usize, builder: &mut Builder) {
    let Some(levels) = levels.checked_sub(1) else {
        return builder.text(recorded.compact());
    };
    match recorded {
        Json::Null => {}
        Json::Text(text) => match strings::container(text) {
            Some(inner) => value(&inner, levels, builder),
            None => prefixed::take(text, builder),
        },
        Json::List(items) => list::take(items, levels, builder),
        Json::Object(_) => {
            if !envelope::take(recorded, levels, builder) {
                message::take(recorded, builder);
            }
        }
        Json::Bool(_) | Json::Number(_) => builder.text(recorded.compact()),
    }
}
