//! Cases of merging, in a short notation: `u:`, `a:`, `s:` and a text; `call` and `result` with id, tool and text.

use super::*;
use crate::trace::Role;
use serde_json::json;

fn said(role: Role, content: &str) -> Step {
    let content = content.to_owned();
    Step { role, content, tool_name: None, tool_input: None, tool_call_id: None, metadata: None }
}

/// Steps from lines: `u hi`, `a hello`, `s be brief`, `c id tool {"a":1}`, `r id text`; an id of `-` is none.
pub(super) fn turns(lines: &[&str]) -> Vec<Step> {
    let id = |id: &str| Some(id.to_owned()).filter(|id| id != "-");
    lines
        .iter()
        .map(|line| {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "u" => said(Role::User, rest),
                "a" => said(Role::Assistant, rest),
                "s" => said(Role::System, rest),
                "c" => {
                    let mut words = rest.splitn(3, ' ');
                    let (call_id, tool) = (words.next().unwrap(), words.next().unwrap());
                    let input = serde_json::from_str(words.next().unwrap_or("{}")).unwrap();
                    let step = said(Role::Assistant, "");
                    Step {
                        tool_name: Some(tool.to_owned()),
                        tool_input: Some(input),
                        tool_call_id: id(call_id),
                        ..step
                    }
                }
                "r" => {
                    let (call_id, text) = rest.split_once(' ').unwrap_or((rest, ""));
                    Step { tool_call_id: id(call_id), ..said(Role::Tool, text) }
                }
                other => panic!("unknown kind {other}"),
            }
        })
        .collect()
}

/// The steps in the same notation.
pub(super) fn lines(steps: &[TimedStep]) -> Vec<String> {
    steps
        .iter()
        .map(|timed| &timed.step)
        .map(|step| match (step.role, &step.tool_name) {
            (Role::User, _) => format!("u {}", step.content),
            (Role::System, _) => format!("s {}", step.content),
            (Role::Assistant, None) => format!("a {}", step.content),
            (Role::Assistant, Some(tool)) => {
                let input = step.tool_input.as_ref().filter(|input| !input.is_empty());
                let input = input.map(|input| format!(" {}", json!(input))).unwrap_or_default();
                format!("c {} {tool}{input}", step.tool_call_id.as_deref().unwrap())
            }
            (Role::Tool, _) => format!("r {} {}", step.tool_call_id.as_deref().unwrap(), step.content),
        })
        .collect()
}

pub(super) fn call(id: &str, parent: &str, start: u64, end: u64, input: &[&str], output: &[&str]) -> SourceSpan {
    SourceSpan {
        id: id.to_owned(),
        parent: Some(parent.to_owned()).filter(|parent| !parent.is_empty()),
        kind: SourceKind::Llm,
        start_ns: start,
        end_ns: end,
        input: turns(input),
        output: turns(output),
        ..SourceSpan::default()
    }
}

pub(super) fn span(id: &str, parent: &str, kind: SourceKind) -> SourceSpan {
    SourceSpan { kind, ..call(id, parent, 1, 1000, &[], &[]) }
}

pub(super) fn tool(id: &str, start: u64, end: u64, call_id: &str, name: &str, input: &str, result: &str) -> SourceSpan {
    let tool = ToolUse {
        call_id: Some(call_id.to_owned()).filter(|id| id != "-"),
        name: Some(name.to_owned()),
        input: serde_json::from_str(input).unwrap(),
        result: Some(result.to_owned()),
        is_error: false,
    };
    SourceSpan { tool: Some(Box::new(tool)), kind: SourceKind::Tool, ..call(id, "", start, end, &[], &[]) }
}

fn merged(spans: Vec<SourceSpan>) -> Vec<String> {
    lines(&merge(spans).steps)
}

#[test]
fn shared_history_stands_once_and_spans_know_their_steps() {
    let spans = vec![
        call("b", "", 3, 4, &["s be brief", "u go", "c 1 f {\"n\":1}", "r 1 done"], &["a fine"]),
        call("a", "", 1, 2, &["s be brief", "u go"], &["c 1 f {\"n\": 1}"]),
        tool("t", 2, 3, "1", "f", "{\"n\":1}", "done, at length"),
    ];
    let found = merge(spans);
    assert_eq!(lines(&found.steps), ["s be brief", "u go", "c 1 f {\"n\":1}", "r 1 done", "a fine"]);
    let expected = [("a", vec![0, 1, 2]), ("b", vec![3, 4]), ("t", vec![3])];
    assert_eq!(found.step_indices, expected.map(|(id, steps)| (id.to_owned(), steps)).into());
    assert_eq!(found.steps[3].step.tool_name.as_deref(), Some("f"));
}

#[test]
fn steps_have_the_time_of_their_span_and_answers_its_facts() {
    let mut one = call("a", "", 1_700_000_000_000_000_000, 1_700_000_001_000_000_000, &["u go"], &["a done"]);
    one.facts = serde_json::from_value(json!({"usage": {"input_tokens": 3}, "status": "ok"})).unwrap();
    let found = merge(vec![one]);
    let metadata: Vec<_> = found.steps.into_iter().map(|step| json!(step.stamped().metadata)).collect();
    assert_eq!(metadata[0], json!({"timestamp": "2023-11-14T22:13:20Z"}));
    assert_eq!(metadata[1], json!({"timestamp": "2023-11-14T22:13:21Z", "usage": {"input_tokens": 3}, "status": "ok"}));
}

#[test]
fn inputs_that_are_parts_of_a_history_are_appended() {
    let spans = vec![
        call("a", "", 1, 2, &["u roll"], &["c d1 dice"]),
        call("b", "", 3, 4, &["r d1 6"], &["a six"]),
        call("c", "", 5, 6, &["u again"], &["c d2 dice"]),
        call("d", "", 7, 8, &["r d2 1"], &["a one"]),
        call("e", "", 9, 10, &["u roll"], &["a no more"]),
    ];
    let expected =
        ["u roll", "c d1 dice", "r d1 6", "a six", "u again", "c d2 dice", "r d2 1", "a one", "u roll", "a no more"];
    assert_eq!(merged(spans), expected);
}

#[test]
fn a_whole_history_after_parts_of_it_is_known() {
    let spans = vec![
        call("a", "", 1, 2, &["u one"], &["a 1"]),
        call("b", "", 3, 4, &["u two"], &["a 2"]),
        call("c", "", 5, 6, &["u one", "a 1", "u two", "a 2", "u three"], &["a 3"]),
        call("d", "", 7, 8, &["u one", "a 1", "u two", "a 2", "u three", "a 3", "u four"], &["a 4"]),
    ];
    assert_eq!(merged(spans), ["u one", "a 1", "u two", "a 2", "u three", "a 3", "u four", "a 4"]);
}

#[test]
fn equal_texts_are_turns_of_their_own() {
    let spans = vec![
        call("a", "", 1, 2, &["u yes"], &["a ok"]),
        call("b", "", 3, 4, &["u yes", "a ok", "u yes"], &["a ok"]),
        call("c", "", 5, 6, &["u yes", "a ok", "u yes", "a ok", "u yes"], &["a ok"]),
    ];
    assert_eq!(merged(spans), ["u yes", "a ok", "u yes", "a ok", "u yes", "a ok"]);
}

#[test]
fn a_history_cut_at_its_beginning_is_known_by_its_end() {
    let spans = vec![
        call("a", "", 1, 2, &["u one"], &["a 1"]),
        call("b", "", 3, 4, &["u one", "a 1", "u two"], &["a 2"]),
        call("c", "", 5, 6, &["u two", "a 2", "u three"], &["a 3"]),
    ];
    assert_eq!(merged(spans), ["u one", "a 1", "u two", "a 2", "u three", "a 3"]);
}

#[test]
fn a_summary_in_place_of_old_turns_is_the_only_new_one() {
    let spans = vec![
        call("a", "", 1, 2, &["u one"], &["a 1"]),
        call("b", "", 3, 4, &["u one", "a 1", "u two"], &["a 2"]),
        call("c", "", 5, 6, &["u so far: one", "u two", "a 2", "u three"], &["a 3"]),
        call("d", "", 7, 8, &["u so far: one", "u two", "a 2", "u three", "a 3", "u four"], &["a 4"]),
    ];
    let expected = ["u one", "a 1", "u two", "a 2", "u so far: one", "u three", "a 3", "u four", "a 4"];
    assert_eq!(merged(spans), expected);
}

#[test]
fn a_history_that_lost_its_middle_adds_only_what_is_unseen() {
    let spans = vec![
        call("a", "", 1, 2, &["u one"], &["a 1"]),
        call("b", "", 3, 4, &["u one", "a 1", "u two"], &["a 2"]),
        call("c", "", 5, 6, &["u one", "u two", "a 2", "u three"], &["a 3"]),
    ];
    assert_eq!(merged(spans), ["u one", "a 1", "u two", "a 2", "u three", "a 3"]);
}

#[test]
fn each_agent_keeps_a_branch() {
    let spans = vec![
        span("x", "", SourceKind::Agent),
        span("y", "x", SourceKind::Agent),
        call("a", "x", 1, 2, &["u go"], &["c 1 ask"]),
        call("b", "y", 3, 4, &["u go", "u look"], &["a seen"]),
        call("c", "y", 5, 6, &["u go", "u look", "a seen", "u closer"], &["a blue"]),
        call("d", "x", 7, 8, &["u go", "c 1 ask", "r 1 blue"], &["a it is blue"]),
    ];
    let expected = ["u go", "c 1 ask", "u look", "a seen", "u closer", "a blue", "r 1 blue", "a it is blue"];
    assert_eq!(merged(spans), expected);
}

#[test]
fn parallel_conversations_do_not_repeat_each_other() {
    let spans = vec![
        call("a", "", 1, 2, &["u A"], &["c 1 f"]),
        call("b", "", 1, 3, &["u B"], &["c 2 f"]),
        call("c", "", 4, 5, &["u A", "c 1 f", "r 1 x"], &["a done A"]),
        call("d", "", 4, 6, &["u B", "c 2 f", "r 2 y"], &["a done B"]),
    ];
    assert_eq!(merged(spans), ["u A", "c 1 f", "u B", "c 2 f", "r 1 x", "a done A", "r 2 y", "a done B"]);
}

#[test]
fn of_nested_calls_the_innermost_stands_with_what_the_outer_knows() {
    let outer = call("o", "", 1, 10, &["s sys", "u go"], &["a ok", "c 1 f"]);
    let found = |output: &[&str]| merged(vec![outer.clone(), call("i", "o", 2, 9, &["u go"], output)]);
    assert_eq!(found(&["a ok", "c 1 f"]), ["s sys", "u go", "a ok", "c 1 f"]);
    assert_eq!(found(&["a ok"]), ["s sys", "u go", "a ok", "c 1 f"]);
    assert_eq!(found(&["c 1 f"]), ["s sys", "u go", "a ok", "c 1 f"]);
    assert_eq!(found(&[]), ["s sys", "u go", "a ok", "c 1 f"]);
    assert_eq!(found(&["a None"]), ["s sys", "u go", "a ok", "c 1 f"]);
    assert_eq!(found(&["a other"]), ["s sys", "u go", "a other", "c 1 f"]);
}

#[test]
fn a_call_within_a_tool_is_no_repetition() {
    let spans = vec![
        call("o", "", 1, 10, &["u go"], &["a done"]),
        span("t", "o", SourceKind::Tool),
        call("i", "t", 2, 3, &["u look"], &["a seen"]),
    ];
    assert_eq!(merged(spans), ["u go", "a done", "u look", "a seen"]);
}

#[test]
fn an_agents_own_turns_count_only_without_others() {
    let agent = SourceSpan { kind: SourceKind::Agent, ..call("x", "", 1, 9, &["u go"], &["a all of it"]) };
    assert_eq!(merged(vec![agent.clone(), span("l", "x", SourceKind::Llm)]), ["u go", "a all of it"]);
    assert_eq!(merged(vec![agent, call("l", "x", 2, 3, &["u go"], &["a part"])]), ["u go", "a part"]);
}

#[test]
fn a_call_recorded_twice_side_by_side_stands_once() {
    let spans = |second: &[&str]| {
        vec![call("a", "p", 1, 10, &["u go"], &["a done"]), call("b", "p", 2, 9, &["s sys", "u go"], second)]
    };
    assert_eq!(merged(spans(&["a done"])), ["u go", "a done", "s sys"]);
    assert_eq!(merged(spans(&["a done", "c 1 f"])), ["u go", "a done", "s sys", "c 1 f"]);
    assert_eq!(merged(spans(&["a other"])), ["u go", "a done", "s sys", "a other"]);
    let nothing = vec![call("a", "p", 1, 10, &["u go"], &["a None"]), call("b", "p", 2, 9, &["u go"], &["a done"])];
    assert_eq!(merged(nothing), ["u go", "a done"]);
    let later = vec![call("a", "p", 1, 2, &["u go"], &["a done"]), call("b", "p", 3, 4, &["u go"], &["a done"])];
    assert_eq!(merged(later), ["u go", "a done", "a done"]);
}

#[test]
fn the_richer_record_of_a_turn_wins() {
    let text = vec![
        call("a", "", 1, 2, &["u go"], &["a None"]),
        call("b", "", 3, 4, &["u go", "c 1 f {\"n\":1}", "r 1 x"], &["a done"]),
    ];
    assert_eq!(merged(text), ["u go", "c 1 f {\"n\":1}", "r 1 x", "a done"]);
    let arguments = vec![
        call("a", "", 1, 2, &["u go"], &["c 1 f"]),
        call("b", "", 3, 4, &["u go", "c 1 f {\"n\":1}", "r 1 x"], &["a done"]),
    ];
    assert_eq!(merged(arguments), ["u go", "c 1 f {\"n\":1}", "r 1 x", "a done"]);
    let lost = vec![
        call("a", "", 1, 2, &["u go"], &["a hm", "c 1 f"]),
        call("b", "", 3, 4, &["u go", "a hm", "r 1 x"], &["a done"]),
    ];
    assert_eq!(merged(lost), ["u go", "a hm", "c 1 f", "r 1 x", "a done"]);
}

#[test]
fn results_that_no_call_was_given_come_from_the_tools() {
    let spans = vec![
        call("a", "", 1, 2, &["u go"], &["c 1 f", "c - g {\"n\":1}"]),
        tool("t1", 3, 4, "-", "g", "{\"n\":1}", "from g"),
        tool("t2", 3, 5, "1", "f", "{}", "from f"),
        call("b", "", 6, 7, &["u go"], &["c 9 f"]),
        tool("t3", 8, 9, "9", "f", "{}", "the end"),
    ];
    let found = merge(spans);
    let expected =
        ["u go", "c 1 f", "c stash-call-1 g {\"n\":1}", "r stash-call-1 from g", "r 1 from f", "c 9 f", "r 9 the end"];
    assert_eq!(lines(&found.steps), expected);
    assert_eq!(found.step_indices["t3"], [6]);
    assert_eq!(found.step_indices["t1"], [3]);
}

#[test]
fn ids_that_name_no_call_count_as_missing() {
    let spans = vec![call("a", "", 1, 2, &["u go", "c f f", "r f x"], &["c f f {\"n\":2}"])];
    assert_eq!(merged(spans), ["u go", "c stash-call-1 f", "r stash-call-1 x", "c stash-call-2 f {\"n\":2}"]);
    let spans = vec![call("a", "", 1, 2, &["u go", "c 0 f", "c 0 g", "r 0 x", "r 0 y"], &["a done"])];
    assert_eq!(
        merged(spans),
        ["u go", "c stash-call-1 f", "c stash-call-2 g", "r stash-call-1 x", "r stash-call-2 y", "a done"]
    );
}

#[test]
fn an_id_known_later_joins_the_call_recorded_without() {
    let spans = vec![
        call("a", "", 1, 2, &["u go"], &["c - f", "c - g"]),
        call("b", "", 3, 4, &["u go", "c 1 f", "c 2 g", "r 2 y", "r 1 x"], &["a done"]),
    ];
    assert_eq!(
        merged(spans),
        ["u go", "c stash-call-1 f", "c stash-call-2 g", "r stash-call-2 y", "r stash-call-1 x", "a done"]
    );
}

#[test]
fn who_speaks_as_an_open_tool_is_its_result() {
    let mut answer = call("b", "", 3, 4, &["u 4"], &["a four"]);
    answer.input[0].metadata = serde_json::from_value(json!({"original_role": "calc"})).unwrap();
    let spans = vec![call("a", "", 1, 2, &["u 2+2"], &["c 1 calc"]), answer];
    assert_eq!(merged(spans), ["u 2+2", "c 1 calc", "r 1 4", "a four"]);
}

#[test]
fn a_live_agent_is_merged_as_it_goes() {
    let batches = [
        vec![call("a", "x", 1, 2, &["u go"], &["c 1 f"])],
        vec![tool("t", 3, 4, "1", "f", "{}", "done at length")],
        vec![call("b", "x", 5, 6, &["u go", "c 1 f", "r 1 done"], &["c 2 f"]), tool("t2", 7, 8, "2", "f", "{}", "end")],
        vec![span("x", "", SourceKind::Agent)],
    ];
    let mut state = MergeState::default();
    let mut grown = Merged::default();
    let mut seen = Vec::new();
    for batch in &batches {
        state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        grown.take(state.add(batch.clone()).unwrap());
        seen.push(lines(&grown.steps).join(" / "));
    }
    let expected = [
        "u go / c 1 f",
        "u go / c 1 f / r 1 done at length",
        "u go / c 1 f / r 1 done / c 2 f / r 2 end",
        "u go / c 1 f / r 1 done / c 2 f / r 2 end",
    ];
    assert_eq!(seen, expected);
    assert_eq!(grown, merge(batches.concat()));
}

#[test]
fn what_changes_the_past_asks_for_the_whole() {
    let first = vec![call("a", "p", 5, 6, &["u go"], &["a None"])];
    for late in [
        call("early", "", 1, 2, &["u earlier"], &["a x"]),
        call("inner", "a", 7, 8, &["u go"], &["a x"]),
        call("p", "", 7, 8, &["u go"], &["a x"]),
        call("richer", "", 7, 8, &["u go", "a x", "u more"], &["a y"]),
    ] {
        let mut state = MergeState::default();
        state.add(first.clone()).unwrap();
        assert_eq!(state.add(vec![late]), Err(Rebuild));
    }
}

#[test]
fn the_state_stays_small() {
    let mut state = MergeState::default();
    let mut history: Vec<String> = Vec::new();
    for n in 0..500 {
        history.push(format!("u question {n} {}", "x".repeat(1000)));
        let input: Vec<&str> = history.iter().map(String::as_str).collect();
        let answer = format!("a answer {n}");
        state.add(vec![call(&format!("{n}"), "", 1 + n * 2, 2 + n * 2, &input, &[&answer])]).unwrap();
        history.push(answer);
    }
    let bytes = serde_json::to_string(&state).unwrap().len();
    assert!(bytes < 1000 * 90, "{bytes} bytes for 1000 steps");
}
