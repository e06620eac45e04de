//! Whatever the split and the order in which spans arrive, the trace is that of the whole.

use super::tests::{call, lines, span, tool, turns};
use super::*;
use crate::trace::Role;
use proptest::prelude::*;

/// Adds the batches one by one; where that cannot be, merges all so far anew.
fn grown(batches: &[Vec<SourceSpan>]) -> (Merged, usize) {
    let (mut state, mut grown, mut rebuilt) = (MergeState::default(), Merged::default(), 0);
    let mut all: Vec<SourceSpan> = Vec::new();
    for batch in batches {
        all.extend(batch.iter().cloned());
        state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        match state.add(batch.clone()) {
            Ok(added) => grown.take(added),
            Err(Rebuild) => {
                rebuilt += 1;
                (state, grown) = (MergeState::default(), Merged::default());
                grown.take(state.add(all.clone()).expect("an empty state takes all"));
            }
        }
    }
    (grown, rebuilt)
}

fn turn() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "s sys",
        "u yes",
        "u go",
        "u more",
        "a ok",
        "a None",
        "a done",
        "c 1 f",
        "c 1 f {\"n\":1}",
        "c 2 g",
        "c - f",
        "c - g {\"n\":1}",
        "r 1 x",
        "r 2 y",
        "r - x",
        "r 1",
    ])
}

fn any_span() -> impl Strategy<Value = SourceSpan> {
    let ids = || prop::sample::select(vec!["a", "b", "c", "d", "e", "f", "g", "h", "p", "q", ""]);
    let list = || prop::collection::vec(turn(), 0..5);
    let call_of = (ids(), ids(), 1_u64..12, 0_u64..6, list(), list())
        .prop_map(|(id, parent, start, long, input, output)| call(id, parent, start, start + long, &input, &output));
    let tool_of = (ids(), 1_u64..12, 0_u64..6, prop::sample::select(vec!["1", "2", "-"]), any::<bool>()).prop_map(
        |(id, start, long, call_id, f)| {
            let name = if f { "f" } else { "g" };
            tool(id, start, start + long, call_id, name, if f { "{}" } else { "{\"n\":1}" }, "of the tool")
        },
    );
    let other = (ids(), ids(), any::<bool>())
        .prop_map(|(id, parent, agent)| span(id, parent, if agent { SourceKind::Agent } else { SourceKind::Other }));
    prop_oneof![4 => call_of, 2 => tool_of, 2 => other]
}

/// A conversation of an agent, as its calls record it, each with the whole history.
fn conversation() -> impl Strategy<Value = Vec<SourceSpan>> {
    prop::collection::vec((turn(), turn(), any::<bool>()), 1..8).prop_map(|rounds| {
        let mut history: Vec<&str> = Vec::new();
        let mut spans = Vec::new();
        for (n, (asked, answered, with_tool)) in rounds.into_iter().enumerate() {
            history.push(asked);
            let start = 1 + n as u64 * 10;
            let id = format!("call {n}");
            spans.push(call(&id, "root", start, start + 5, &history, &[answered]));
            history.push(answered);
            if with_tool {
                spans.push(tool(&format!("tool {n}"), start + 6, start + 8, "1", "f", "{}", "of the tool"));
            }
        }
        spans.push(span("root", "", SourceKind::Agent));
        spans
    })
}

/// Each id once, in any order and any split.
fn shuffled(spans: Vec<SourceSpan>) -> impl Strategy<Value = Vec<Vec<SourceSpan>>> {
    let mut seen = std::collections::BTreeSet::new();
    let spans: Vec<SourceSpan> = spans.into_iter().filter(|span| seen.insert(span.id.clone())).collect();
    let count = spans.len();
    (Just(spans).prop_shuffle(), prop::collection::vec(any::<bool>(), count)).prop_map(|(spans, cuts)| {
        let mut batches = vec![Vec::new()];
        for (span, cut) in spans.into_iter().zip(cuts) {
            if cut {
                batches.push(Vec::new());
            }
            if let Some(batch) = batches.last_mut() {
                batch.push(span);
            }
        }
        batches
    })
}

/// Batches, a line for each span.
fn shown(batches: &[Vec<SourceSpan>]) -> Vec<Vec<String>> {
    let of = |steps: &[Step]| {
        let ids =
            |step: &Step| Step { tool_call_id: step.tool_call_id.clone().or(Some("-".to_owned())), ..step.clone() };
        lines(&steps.iter().map(|step| ids(step).into()).collect::<Vec<_>>()).join(", ")
    };
    let span = |span: &SourceSpan| {
        let (input, output) = (of(&span.input), of(&span.output));
        let tool = span.tool.as_ref().map(|tool| format!(" {:?} {:?}", tool.call_id, tool.name)).unwrap_or_default();
        let (id, parent, kind, start, end) = (&span.id, &span.parent, span.kind, span.start_ns, span.end_ns);
        format!("{id} in {parent:?} {kind:?} {start}-{end} [{input}] [{output}]{tool}")
    };
    batches.iter().map(|batch| batch.iter().map(span).collect()).collect()
}

fn same(batches: &[Vec<SourceSpan>], whole: &Merged) -> Result<(), TestCaseError> {
    let (grown, _) = grown(batches);
    let shown = || (lines(&grown.steps), &grown.step_indices, lines(&whole.steps), &whole.step_indices, shown(batches));
    prop_assert!(grown == *whole, "{:#?}", shown());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_split_and_order_gives_the_whole(
        batches in prop::collection::vec(any_span(), 0..9).prop_flat_map(shuffled)
    ) {
        let whole = merge(batches.concat());
        let mut sorted = batches.concat();
        sorted.sort_by(|a, b| a.id.cmp(&b.id));
        prop_assert_eq!(&merge(sorted), &whole, "the order of the whole does not matter");
        same(&batches, &whole)?;
    }

    #[test]
    fn a_conversation_in_pieces_is_the_whole(batches in conversation().prop_flat_map(shuffled)) {
        same(&batches, &merge(batches.concat()))?;
    }

    #[test]
    fn nothing_that_was_said_is_lost(spans in conversation().prop_flat_map(shuffled)) {
        let spans = spans.concat();
        let merged = merge(spans.clone());
        for step in spans.iter().flat_map(|span| span.input.iter().chain(&span.output)) {
            let found = merged.steps.iter().map(|timed| &timed.step).any(|other| other.role == step.role && other.content.trim() == step.content);
            // A result may be recorded better in another place.
            let hollow = step.role == Role::Tool || step.content.is_empty() || step.content == "None";
            prop_assert!(found || hollow, "{step:?} of {:?}", merged.steps);
        }
        prop_assert_eq!(merge(spans), merged);
    }

    #[test]
    fn indices_are_of_steps_and_ascend(spans in prop::collection::vec(any_span(), 0..12)) {
        let merged = merge(spans);
        for indices in merged.step_indices.values() {
            prop_assert!(!indices.is_empty());
            prop_assert!(indices.is_sorted_by(|a, b| a < b));
            prop_assert!(indices.iter().all(|index| (*index as usize) < merged.steps.len()));
        }
    }
}

#[test]
fn a_conversation_in_order_is_never_built_again() {
    let mut batches = Vec::new();
    let mut history = vec!["u go"];
    for (n, more) in
        [["c 1 f", "r 1 x"], ["a ok", "u more"], ["c 2 g", "r 2 y"], ["a done", "u go"]].into_iter().enumerate()
    {
        let start = 1 + n as u64 * 10;
        batches.push(vec![call(&format!("{n}"), "root", start, start + 5, &history, &more[..1])]);
        history.extend(more);
    }
    batches.push(vec![span("root", "", SourceKind::Agent)]);
    let (merged, rebuilt) = grown(&batches);
    assert_eq!(rebuilt, 0);
    assert_eq!(merged, merge(batches.concat()));
    assert_eq!(merged.steps.len(), turns(&history).len() - 1);
}
