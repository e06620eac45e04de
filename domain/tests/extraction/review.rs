//! The review of a comparison.

use crate::support::*;
use serde_json::{Value, json};
use stash_domain::learning::extraction::{Call, Exclusion, Finding, Purpose};

/// What becomes of a judgment that prefers "Oslo." to "Bergen.", when the review is answered like this.
fn reviewed(answer: impl Fn(&Call) -> Value) -> (Finding, Vec<Call>) {
    let material = material(vec![user("Capital?"), agent("Bergen."), user("Next: count to 3.")]);
    run(assessment(&material, 1), |call| match call.purpose {
        Purpose::Feedback => no_feedback(),
        Purpose::Judgment => judgment(call, "negative", "Oslo."),
        Purpose::Review => answer(call),
    })
}

#[test]
fn a_confirmed_preference_makes_a_pair() {
    let (finding, _) = reviewed(|call| review(call, candidate_with(call, "Oslo.")));
    assert_eq!(finding.exclusion, None);
    assert!(!finding.reason.contains("Review:"));
}

#[test]
fn a_tie_and_a_reversed_preference_keep_their_finding_and_make_no_pair() {
    let (tie, _) = reviewed(|call| review(call, "tie"));
    assert_eq!(tie.exclusion, Some(Exclusion::Tie));
    let (reversed, _) = reviewed(|call| review(call, candidate_with(call, "Bergen.")));
    assert_eq!(reversed.exclusion, Some(Exclusion::Reversed));
    for finding in [tie, reversed] {
        assert!(finding.revision.is_some() && finding.reason.ends_with("Review: It is better."), "{}", finding.reason);
    }
}

#[test]
fn an_alternative_that_the_review_finds_unsupported_or_unsafe_makes_no_pair() {
    for (check, expected) in [("supported", Exclusion::Unsupported), ("safe", Exclusion::Unsafe)] {
        let (finding, _) = reviewed(|call| {
            let alternative = candidate_with(call, "Oslo.");
            let mut answer = review(call, alternative);
            answer[check][alternative] = json!(false);
            answer
        });
        assert_eq!(finding.exclusion, Some(expected));
    }
    // That the original is not supported is what the alternative mends.
    let (finding, _) = reviewed(|call| {
        let mut answer = review(call, candidate_with(call, "Oslo."));
        answer["supported"][candidate_with(call, "Bergen.")] = json!(false);
        answer
    });
    assert_eq!(finding.exclusion, None);
}

#[test]
fn it_sees_the_prior_context_and_neither_the_verdict_nor_what_came_later() {
    let (finding, calls) = reviewed(|call| review(call, "tie"));
    let judged = calls.iter().find(|call| call.purpose == Purpose::Judgment).unwrap();
    let asked = calls.iter().find(|call| call.purpose == Purpose::Review).unwrap();
    assert_eq!(judged.context, asked.context);
    for hidden in ["count to 3", "It is so", "negative", "\"step\": 1"] {
        assert!(!asked.task.contains(hidden), "{hidden}");
    }
    assert!(finding.reason.contains("It is so."));
}

#[test]
fn either_candidate_may_stand_first() {
    let first = |answer: &str| {
        let material = material(vec![user("Capital?"), agent("Bergen.")]);
        let (_, calls) = run(assessment(&material, 1), opinionated("negative", answer, answer));
        candidate_with(&calls[1], answer)
    };
    let places: std::collections::BTreeSet<&str> = (0..20).map(|n| first(&format!("Oslo {n}."))).collect();
    assert_eq!(places.len(), 2);
    assert_eq!(first("Oslo."), first("Oslo."));
}
