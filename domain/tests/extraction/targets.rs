//! What is assessed.

use crate::support::*;
use serde_json::json;
use stash_domain::trace::{ActionType, Role};

#[test]
fn responses_and_tool_calls_are_assessed_and_nothing_else() {
    let material = material(vec![
        say(Role::System, "Be brief."),
        user("Find it."),
        call("search", json!({"q": "it"})),
        result("search", "Found."),
        agent("Here it is."),
        agent("  \n"),
        user("Thanks."),
    ]);
    let targets: Vec<_> = material.targets().iter().map(|target| (target.step_index, target.action_type)).collect();
    assert_eq!(targets, [(2, ActionType::ToolCall), (4, ActionType::Response)]);
}

#[test]
fn a_tool_call_is_assessed_even_without_text() {
    let material = material(vec![user("Go."), call("go", json!({}))]);
    assert_eq!(material.targets().len(), 1);
    let (finding, calls) = run(assessment(&material, 1), opinionated("unclear", "", ""));
    assert!(calls[0].task.contains(r#""call": {"tool_name": "go", "tool_input": {}}"#), "{}", calls[0].task);
    assert_eq!((finding.tool_name.as_deref(), finding.evidence_quote.as_str()), (Some("go"), "go {}"));
}

#[test]
fn code_sets_the_step_index() {
    // Whatever a judge says, it has no field in which to name a step.
    let material = material(vec![user("One?"), agent("Two."), agent("Three.")]);
    for place in [1, 2] {
        let (finding, _) = run(assessment(&material, place), opinionated("unclear", "", ""));
        assert_eq!((finding.step_index, finding.step_id), (place, step_id(place as usize)));
        let mut answer = judgment(&assessment(&material, place).call().unwrap(), "unclear", "");
        answer["step_index"] = json!(0);
        assert!(assessment(&material, place).answer(&answer, "m").is_err());
    }
}

#[test]
fn a_trace_without_actions_gives_nothing_to_assess() {
    assert!(material(vec![]).targets().is_empty());
    assert!(material(vec![user("Anybody?"), agent("")]).targets().is_empty());
}
