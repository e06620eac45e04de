//! Of calls nested in each other the innermost stands, and takes in what only those around it know.
//!
//! A framework records a call, and the library below it records the same call again, often more exactly, sometimes less. An
//! agent's own turns repeat those of its calls, so that they count only if nothing below it has any. A call within a tool's run
//! is no repetition of the call around the tool.

use super::fold::in_order;
use super::mark::{Mark, MarkKind, short};
use super::tree::Tree;
use super::{Rebuild, SourceKind, SourceSpan};
use crate::trace::Role;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Calls around one that it takes something in from, the nearest ones.
const OUTER_MAX: usize = 8;

/// The calls that stand, of new spans with turns that are in the tree already.
///
/// # Errors
/// If one of them changes which of the spans merged before stand.
pub(super) fn standing(mut speaking: Vec<SourceSpan>, tree: &Tree) -> Result<Vec<SourceSpan>, Rebuild> {
    speaking.sort_by(in_order);
    let places: BTreeMap<u64, usize> = speaking.iter().enumerate().map(|(at, span)| (short(&span.id), at)).collect();
    let mut passed_over = BTreeSet::new();
    for span in &speaking {
        let id = short(&span.id);
        if tree.get(id).is_some_and(|node| node.covers) {
            match span.kind {
                SourceKind::Agent => passed_over.insert(id),
                _ => return Err(Rebuild),
            };
        }
        for outer in outer(tree, id, span.kind) {
            if places.contains_key(&outer) {
                passed_over.insert(outer);
            } else if tree.get(outer).is_some_and(|node| node.merged || node.kind == SourceKind::Llm) {
                return Err(Rebuild);
            }
        }
    }
    let mut inner_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, span) in speaking.iter().enumerate() {
        let id = short(&span.id);
        if passed_over.contains(&id) || span.kind != SourceKind::Llm {
            continue;
        }
        let calls = outer(tree, id, span.kind).into_iter().filter(|outer| is_call(tree, *outer)).take(OUTER_MAX);
        for outer in calls.filter_map(|outer| places.get(&outer)) {
            inner_of.entry(*outer).or_default().push(at);
        }
    }
    let mut speaking: Vec<Option<SourceSpan>> = speaking.into_iter().map(Some).collect();
    // Nearer ones first: what they know was recorded closer to the call.
    let mut outers: Vec<(usize, Vec<usize>)> = inner_of.into_iter().collect();
    let depth = |at: &usize| {
        let span = speaking.get(*at).and_then(Option::as_ref);
        span.map_or(0, |span| tree.above(short(&span.id)).count())
    };
    outers.sort_by_cached_key(|(outer, _)| (std::cmp::Reverse(depth(outer)), *outer));
    for (outer, mut inner) in outers {
        let Some(outer) = speaking.get_mut(outer).and_then(Option::take) else { continue };
        inner.sort_by_cached_key(|at| speaking.get(*at).and_then(Option::as_ref).map(super::fold::key_of));
        take_in(outer, &inner, &mut speaking);
    }
    Ok(speaking.into_iter().flatten().filter(|span| !passed_over.contains(&short(&span.id))).collect())
}

fn is_call(tree: &Tree, id: u64) -> bool {
    tree.get(id).is_some_and(|node| node.kind == SourceKind::Llm)
}

/// The spans around one that it makes superfluous, nearest first.
fn outer(tree: &Tree, id: u64, kind: SourceKind) -> Vec<u64> {
    let mut within_tool = false;
    let mut outer = Vec::new();
    for (above, node) in tree.above(id) {
        within_tool |= node.kind == SourceKind::Tool;
        let repeats = match node.kind {
            SourceKind::Llm => !within_tool && kind == SourceKind::Llm,
            SourceKind::Agent => true,
            SourceKind::Tool | SourceKind::Other => false,
        };
        if node.speaks && repeats {
            outer.push(above);
        }
    }
    outer
}

/// Takes what only the outer call knows into the inner ones, which are in order.
fn take_in(outer: SourceSpan, inner: &[usize], speaking: &mut [Option<SourceSpan>]) {
    let (mut ids, mut with_id, mut without) = (HashSet::new(), HashSet::new(), HashSet::new());
    for span in inner.iter().filter_map(|at| speaking.get(*at)).flatten() {
        for mark in span.input.iter().chain(&span.output).map(Mark::of) {
            if mark.call_id == 0 {
                without.insert(mark.digest);
            } else {
                ids.insert(mark.call_id);
                with_id.insert(mark.digest);
            }
        }
    }
    let is_known = |mark: &Mark| match mark.call_id {
        0 => without.contains(&mark.digest) || with_id.contains(&mark.digest),
        id => ids.contains(&id) || without.contains(&mark.digest),
    };
    if let Some(Some(first)) = inner.first().and_then(|at| speaking.get_mut(*at)) {
        let says_nothing = first.input.iter().all(|step| step.role == Role::System);
        let has_system = first.input.iter().any(|step| step.role == Role::System);
        let taken = outer.input.into_iter().filter(|step| match step.role {
            Role::System => !has_system,
            _ => says_nothing,
        });
        let mut input: Vec<_> = taken.collect();
        input.append(&mut first.input);
        first.input = input;
    }
    let alone = inner.len() == 1;
    let Some(Some(last)) = inner.last().and_then(|at| speaking.get_mut(*at)) else { return };
    if last.output.iter().all(|step| Mark::of(step).hollow && step.role == Role::Assistant && step.tool_name.is_none())
    {
        if !outer.output.is_empty() {
            last.output = outer.output;
        }
    } else {
        let has_text = last.output.iter().any(|step| Mark::of(step).kind == MarkKind::Text);
        let mut before = Vec::new();
        for step in outer.output {
            let mark = Mark::of(&step);
            match mark.kind {
                MarkKind::Call if !is_known(&mark) => last.output.push(step),
                MarkKind::Text if alone && !has_text && !mark.hollow && !is_known(&mark) => before.push(step),
                _ => {}
            }
        }
        before.append(&mut last.output);
        last.output = before;
    }
    if alone {
        last.facts.fill(outer.facts);
    }
}
