//! From findings to pairs.

use crate::support::*;
use stash_domain::ids::TraceId;
use stash_domain::learning::extraction::{Arranged, Exclusion, Finding, Harvest, Label, Purpose};
use stash_domain::learning::frame::{Source, Split};
use stash_domain::learning::ratings::{Liking, TargetKey};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A usable finding of a trace of its own.
fn finding(number: u128) -> Finding {
    let material = material(vec![user("Capital?"), agent(&format!("Bergen {number}."))]);
    let (finding, _) = run(assessment(&material, 1), opinionated("negative", "Oslo.", "Oslo."));
    Finding { trace_id: TraceId(Uuid::from_u128(number)), ..finding }
}

fn liking(finding: &Finding, liking: Liking) -> BTreeMap<TargetKey, Liking> {
    BTreeMap::from([(TargetKey { trace_id: finding.trace_id, step_id: Some(finding.step_id) }, liking)])
}

fn exclusions(harvest: &Harvest) -> Vec<Option<Exclusion>> {
    harvest.findings().iter().map(|finding| finding.exclusion).collect()
}

#[test]
fn a_judgment_against_a_rating_keeps_its_finding_and_makes_no_pair() {
    let mut harvest = Harvest::new(liking(&finding(1), Liking::Positive), 0, 10);
    harvest.take(finding(1));
    assert_eq!(exclusions(&harvest), [Some(Exclusion::ContradictsRating)]);
    let mut harvest = Harvest::new(liking(&finding(1), Liking::Negative), 0, 10);
    harvest.take(finding(1));
    assert_eq!(exclusions(&harvest), [None]);
}

#[test]
fn ratings_of_another_scope_and_feedback_of_people_are_not_touched() {
    let trace = TargetKey { trace_id: finding(1).trace_id, step_id: None };
    let mut harvest = Harvest::new(BTreeMap::from([(trace, Liking::Positive)]), 0, 10);
    harvest.take(finding(1));
    assert_eq!(exclusions(&harvest), [None]);
    let said = Finding { source: Source::UserFeedback, ..finding(1) };
    let mut harvest = Harvest::new(liking(&said, Liking::Positive), 0, 10);
    harvest.take(said);
    assert_eq!(exclusions(&harvest), [None]);
}

#[test]
fn explicit_pairs_count_first_and_extraction_stops_when_there_are_enough() {
    let mut harvest = Harvest::new(BTreeMap::new(), 3, 5);
    assert!(!harvest.is_full());
    (1..=3).for_each(|number| harvest.take(finding(number)));
    assert!(harvest.is_full());
    assert_eq!(exclusions(&harvest), [None, None, Some(Exclusion::OverMaxPairs)]);
    assert!(Harvest::new(BTreeMap::new(), 5, 5).is_full());
}

#[test]
fn the_same_pair_is_made_once() {
    let mut harvest = Harvest::new(BTreeMap::new(), 0, 10);
    harvest.take(finding(1));
    harvest.take(Finding { trace_id: TraceId(Uuid::from_u128(2)), ..finding(1) });
    assert_eq!(exclusions(&harvest), [None, Some(Exclusion::DuplicatePair)]);
}

#[test]
fn findings_without_pairs_stay_in_the_report() {
    let material = material(vec![user("?"), agent("!")]);
    let (unclear, _) = run(assessment(&material, 1), |call| match call.purpose {
        Purpose::Judgment => judgment(call, "unclear", ""),
        _ => no_feedback(),
    });
    let mut harvest = Harvest::new(BTreeMap::new(), 0, 10);
    harvest.take(unclear);
    assert_eq!(harvest.findings().len(), 1);
    assert_eq!(harvest.findings()[0].label, Label::Unclear);
    assert!(!harvest.is_full());
}

#[test]
fn explicit_pairs_across_the_split_are_left_out_and_counted() {
    let trace = |n: u128| TraceId(Uuid::from_u128(n));
    // Findings in ten traces, and ratings that tie each of them to the next.
    let findings: Vec<Finding> = (1..=10).map(finding).collect();
    let explicit: Vec<_> = (1..10).map(|n| (trace(n), trace(n + 1))).collect();
    let arranged = Arranged::of(&explicit, &findings, 0);
    assert!(arranged.eval_pairs >= 1 && arranged.excluded_cross_trace_pairs >= 1, "{arranged:?}");
    assert_eq!(arranged.train_pairs + arranged.eval_pairs + arranged.excluded_cross_trace_pairs, 19);
    // A finding's pair is of one trace: never left out.
    assert!(arranged.findings.iter().all(|split| matches!(split, Some(Split::Train | Split::Eval))));
    let left_out = arranged.explicit.iter().filter(|split| **split == Split::Excluded).count();
    assert_eq!(left_out, arranged.excluded_cross_trace_pairs);
}

#[test]
fn included_means_part_of_a_dataset_of_the_least_size() {
    let mut excluded = finding(3);
    excluded.exclusion = Some(Exclusion::Tie);
    let few = Arranged::of(&[], &[finding(1), excluded.clone()], 0);
    assert!(!few.is_enough());
    assert_eq!(few.included().collect::<Vec<_>>(), [false, false]);
    let enough = Arranged::of(&[], &[finding(1), finding(2), excluded, finding(4)], 0);
    assert!(enough.is_enough());
    assert_eq!(enough.included().collect::<Vec<_>>(), [true, true, false, true]);
}
