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

use super::common::json::Json;
use crate::trace::{Role, Step};
use builder::Builder;

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
    let (mut first, output): (Vec<Step>, Vec<Step>) =
        turns(output, Side::Output, warnings).into_iter().partition(|step| step.role == Role::System);
    first.retain(|system| !input.iter().any(|step| step.role == Role::System && step.content == system.content));
    first.extend(input);
    (first, output)
}

/// Takes any value.
fn value(recorded: &Json, levels: usize, builder: &mut Builder) {
    let Some(levels) = levels.checked_sub(1) else {
        return builder.text(&recorded.compact());
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
        Json::Bool(_) | Json::Number(_) => builder.text(&recorded.compact()),
    }
}
