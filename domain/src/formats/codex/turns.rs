//! From all pieces of a session to its steps.
//!
//! 1. A message under the person's name that begins with a tag is the harness's, if the file tells of what the person typed
//!    and this is not among it.
//! 2. Pieces are cut into turns: one begins where the person speaks after the agent did something. Within a turn only the
//!    best origin of each class of pieces counts; the others repeat it. An event whose text stands in an item elsewhere
//!    repeats that.
//! 3. Pieces become steps. Reasoning waits for the agent's next step, usage goes to its last one; turns that were taken back
//!    are cut off.
//! 4. Calls and results find each other.

use super::{Origin, Piece, What};
use crate::formats::common::call_ids::CallIds;
use crate::formats::common::record::{Bad, Out, Stop};
use crate::ids::Digest;
use crate::json::Value;
use crate::trace::{Role, Step};
use std::collections::{HashMap, HashSet};

/// What a piece is, when copies are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Class {
    User,
    Agent,
    Reasoning,
    Tool,
    Mail,
    Other,
}

fn class(what: &What) -> Class {
    match what {
        What::Text { role: Role::User, metadata, .. } if !metadata.contains_key("compaction") => Class::User,
        What::Text { role: Role::Assistant, .. } => Class::Agent,
        What::Reasoning(_) => Class::Reasoning,
        What::Call { .. } | What::Output { .. } => Class::Tool,
        What::Mail { .. } => Class::Mail,
        What::Text { .. } | What::Usage(_) | What::RolledBack(_) => Class::Other,
    }
}

/// Hands the steps of a session on.
///
/// # Errors
/// What breaks a rule that holds for every trace.
pub(super) fn steps(mut pieces: Vec<Piece>, out: &mut Out<'_>) -> Result<(), Bad> {
    mark_injected(&mut pieces);
    let mut calls = CallIds::default();
    for mut step in build(without_copies(pieces), out) {
        if step.role == Role::Tool {
            let (id, tool) = calls.result(step.tool_call_id.take(), step.tool_name.as_deref());
            step.tool_call_id = Some(id);
            step.tool_name = step.tool_name.or(tool);
        } else if let Some(tool) = &step.tool_name {
            step.tool_call_id = Some(calls.call(step.tool_call_id.take(), tool));
        }
        out.step(step).map_err(|stop| match stop {
            Stop::Bad(bad) => bad,
            Stop::Sink(error) => Bad::new("", error.to_string()),
        })?;
    }
    Ok(())
}

/// A text without regard to white space, which parts of a message are joined by in different ways, and to marks of images.
fn print(text: &str) -> Digest {
    let words: String = text.replace("[image]", "").split_whitespace().collect();
    Digest::of(words.as_bytes())
}

/// Whether a text begins with a tag.
fn is_tagged(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('<') else { return false };
    let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    name > 0
        && rest.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && matches!(rest.as_bytes().get(name), Some(b'>' | b' ' | b'/' | b'\n'))
}

/// See rule 1 of the module.
fn mark_injected(pieces: &mut [Piece]) {
    let typed: HashSet<Digest> = pieces
        .iter()
        .filter(|piece| piece.origin != Origin::Item)
        .filter_map(|piece| match &piece.what {
            What::Text { role: Role::User, text, .. } => Some(print(text)),
            _ => None,
        })
        .collect();
    if typed.is_empty() {
        return;
    }
    for piece in pieces.iter_mut().filter(|piece| piece.origin == Origin::Item) {
        if let What::Text { role: role @ Role::User, text, metadata } = &mut piece.what
            && !metadata.contains_key("compaction")
            && is_tagged(text)
            && !typed.contains(&print(text))
        {
            *role = Role::System;
            metadata.insert("injected", true);
        }
    }
}

/// See rule 2 of the module.
fn without_copies(pieces: Vec<Piece>) -> Vec<Piece> {
    if pieces.iter().all(|piece| piece.origin == Origin::Item) {
        return pieces;
    }
    // Texts of items that no event has repeated so far.
    let mut alone: HashMap<(Class, Digest), u64> = HashMap::new();
    for piece in pieces.iter().filter(|piece| piece.origin == Origin::Item) {
        if let (class @ (Class::User | Class::Agent), What::Text { text, .. }) = (class(&piece.what), &piece.what) {
            *alone.entry((class, print(text))).or_default() += 1;
        }
    }
    let mut is_copy = |class: Class, piece: &Piece| match &piece.what {
        What::Text { text, .. } if piece.origin != Origin::Item => match alone.get_mut(&(class, print(text))) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        },
        _ => false,
    };
    let mut kept = Vec::with_capacity(pieces.len());
    let mut turn: Vec<(Class, Piece)> = Vec::new();
    let mut answered = false;
    for piece in pieces {
        let class = class(&piece.what);
        let taken_back = matches!(piece.what, What::RolledBack(_));
        if class == Class::User && answered || taken_back {
            best_of_turn(&mut turn, &mut kept);
            answered = false;
        }
        answered |= matches!(class, Class::Agent | Class::Reasoning | Class::Tool);
        if !is_copy(class, &piece) {
            turn.push((class, piece));
        }
    }
    best_of_turn(&mut turn, &mut kept);
    kept
}

fn best_of_turn(turn: &mut Vec<(Class, Piece)>, kept: &mut Vec<Piece>) {
    let mut best: HashMap<Class, Origin> = HashMap::new();
    for (class, piece) in turn.iter() {
        let origin = best.entry(*class).or_insert(piece.origin);
        *origin = (*origin).min(piece.origin);
    }
    let is_best = |class: Class, piece: &Piece| class == Class::Other || best.get(&class) == Some(&piece.origin);
    kept.extend(turn.drain(..).filter(|(class, piece)| is_best(*class, piece)).map(|(_, piece)| piece));
}

/// See rule 3 of the module.
fn build(pieces: Vec<Piece>, out: &mut Out<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(pieces.len());
    let mut turns: Vec<usize> = Vec::new();
    let mut thought: Option<String> = None;
    let (mut thoughts_lost, mut turns_lost) = (0_u64, 0_u64);
    for Piece { at, what, .. } in pieces {
        let is_turn = class(&what) == Class::User;
        let (role, content, call, mut metadata) = match what {
            What::Text { text, .. } | What::Mail { text, .. } if text.trim().is_empty() => continue,
            What::Text { role, text, metadata } => (role, text, None, metadata),
            What::Mail { text, metadata } => (Role::System, text, None, metadata),
            What::Call { id, name, input, metadata } => {
                (Role::Assistant, String::new(), Some((id, Some(name), Some(input))), metadata)
            }
            What::Output { id, name, content, metadata } => (Role::Tool, content, Some((id, name, None)), metadata),
            What::Reasoning(text) => {
                match &mut thought {
                    Some(thought) => {
                        thought.push('\n');
                        thought.push_str(&text);
                    }
                    None => thought = Some(text),
                }
                continue;
            }
            What::Usage(usage) => {
                if let Some(step) = steps.iter_mut().rev().find(|step| step.role == Role::Assistant) {
                    let metadata = step.metadata.get_or_insert_default();
                    metadata.insert_missing("usage", || Value::Object(usage));
                }
                continue;
            }
            What::RolledBack(count) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX).min(turns.len());
                if let Some(&cut) = turns.get(turns.len() - count) {
                    steps.truncate(cut);
                    turns.truncate(turns.len() - count);
                    turns_lost += count as u64;
                }
                thought = None;
                continue;
            }
        };
        if role == Role::Assistant {
            if let Some(text) = thought.take() {
                metadata.insert("reasoning", text);
            }
        } else if is_turn {
            thoughts_lost += u64::from(thought.take().is_some());
            turns.push(steps.len());
        }
        if let Some(at) = at {
            metadata.insert("timestamp", at);
        }
        let (tool_call_id, tool_name, tool_input) = call.unwrap_or((None, None, None));
        steps.push(Step { role, content, tool_name, tool_input, tool_call_id, metadata: metadata.some() });
    }
    thoughts_lost += u64::from(thought.is_some());
    if thoughts_lost > 0 {
        out.warn(
            "",
            format!("{thoughts_lost} reasonings were left out: no step of the agent followed them in their turn"),
        );
    }
    if turns_lost > 0 {
        out.warn("", format!("{turns_lost} turns that were rolled back in the session were left out"));
    }
    steps
}
