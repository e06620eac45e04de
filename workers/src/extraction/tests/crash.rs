//! A process that dies between any two calls.

use super::support::{Memory, conversation, extract, model};
use stash_domain::learning::extraction::CALLS_PER_TRACE_MAX;
use stash_infra::testing::llm::judge::{critical, purpose};
use stash_infra::testing::llm::{Answer, LlmServer};

#[tokio::test]
async fn after_a_crash_between_any_two_calls_only_calls_under_way_are_made_again() {
    // One judgment is malformed at first, so that crashes before and after a repair are among them.
    let script = |asked: &stash_infra::testing::llm::Asked| match asked.turns.len() {
        1 if purpose(asked) == "judgment" && asked.last().contains("Answer 1.") => Answer::says("no JSON"),
        _ => critical(asked),
    };
    let material = conversation(4);
    let whole = {
        let server = LlmServer::start(script).await;
        let memory = Memory::default();
        let findings = extract(&*model(&server), &memory, &material).await.unwrap();
        assert_eq!(server.asked().len(), memory.calls());
        (findings, memory.calls())
    };
    for kept in 1..whole.1 {
        let server = LlmServer::start(script).await;
        let (llm, memory) = (model(&server), Memory::default());
        memory.die_after(kept);
        tokio::select! {
            outcome = extract(&*llm, &memory, &material) => panic!("it should have died: {outcome:?}"),
            () = memory.died() => {}
        }
        memory.live();
        let findings = extract(&*llm, &memory, &material).await.unwrap();
        assert_eq!(findings, whole.0, "after {kept} calls");
        assert_eq!(memory.repeated(), 0, "a call that was kept is never made again");
        // One call died with what was kept last, so that at most two others were under way.
        let again = server.asked().len().saturating_sub(whole.1);
        assert!(again < CALLS_PER_TRACE_MAX, "{again} calls were made again after {kept}");
    }
}
