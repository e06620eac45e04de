//! From findings to pairs: what people rated comes first, nothing is made twice, and there are no more than asked for.
//!
//! Findings come in the order of the job: traces as selected, actions as they stand. Which ones make pairs depends on that order
//! and on nothing else, so that a repeated job makes the same pairs.

use super::finding::{Exclusion, Finding, Label, Preferred};
use crate::ids::{Digest, TraceId};
use crate::learning::PAIRS_MIN;
use crate::learning::frame::{Source, Split};
use crate::learning::ratings::{Liking, TargetKey};
use crate::learning::split::{PairTraces, split};
use std::collections::{BTreeMap, BTreeSet};

/// Collects findings.
#[derive(Clone, Debug)]
pub struct Harvest {
    likings: BTreeMap<TargetKey, Liking>,
    room: usize,
    made: BTreeSet<(Digest, Digest)>,
    findings: Vec<Finding>,
}

impl Harvest {
    /// Starts with what the ratings say of each target ([`resolve`](crate::learning::ratings::resolve)), and the number of pairs
    /// that they make already: those count first.
    pub fn new(likings: BTreeMap<TargetKey, Liking>, explicit_pairs: usize, max_pairs: usize) -> Self {
        let room = max_pairs.saturating_sub(explicit_pairs);
        Self { likings, room, made: BTreeSet::new(), findings: Vec::new() }
    }

    /// Whether there are pairs enough: nothing more needs to be asked.
    pub fn is_full(&self) -> bool {
        self.made.len() >= self.room
    }

    /// Takes the next finding. It is kept, whether or not it makes a pair.
    pub fn take(&mut self, mut finding: Finding) {
        if finding.exclusion.is_none() {
            finding.exclusion = self.exclusion_of(&finding);
        }
        if finding.exclusion.is_none()
            && let Some((chosen, rejected)) = sides(&finding)
        {
            self.made.insert((chosen, rejected));
        }
        self.findings.push(finding);
    }

    /// All findings, each with why it makes no pair, if it makes none.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// All findings, to keep.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    fn exclusion_of(&self, finding: &Finding) -> Option<Exclusion> {
        let Some(sides) = sides(finding) else { return Some(Exclusion::NoAlternative) };
        let key = TargetKey { trace_id: finding.trace_id, step_id: Some(finding.step_id) };
        // What a person said in words stands beside a rating; a model's opinion does not stand against one.
        let contradicted = finding.source == Source::AiJudgment
            && matches!(
                (self.likings.get(&key), finding.label),
                (Some(Liking::Positive), Label::Negative) | (Some(Liking::Negative), Label::Positive)
            );
        if contradicted {
            Some(Exclusion::ContradictsRating)
        } else if self.made.contains(&sides) {
            Some(Exclusion::DuplicatePair)
        } else if self.is_full() {
            Some(Exclusion::OverMaxPairs)
        } else {
            None
        }
    }
}

/// Digests of the chosen and the rejected text.
fn sides(finding: &Finding) -> Option<(Digest, Digest)> {
    let revised = finding.revision_digest?;
    Some(match finding.preferred? {
        Preferred::Original => (finding.digest, revised),
        Preferred::Revision => (revised, finding.digest),
    })
}

/// What each pair of a dataset is used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arranged {
    /// Of each explicit pair.
    pub explicit: Vec<Split>,
    /// Of each finding; none for those that make no pair.
    pub findings: Vec<Option<Split>>,
    /// Pairs that train.
    pub train_pairs: usize,
    /// Pairs that evaluate.
    pub eval_pairs: usize,
    /// Pairs left out because their traces stand on both sides.
    pub excluded_cross_trace_pairs: usize,
}

impl Arranged {
    /// Splits explicit pairs and those of findings together, by trace.
    pub fn of(explicit: &[PairTraces], findings: &[Finding], seed: i64) -> Self {
        let own = |finding: &Finding| -> (TraceId, TraceId) { (finding.trace_id, finding.trace_id) };
        let makes_pair = |finding: &&Finding| finding.exclusion.is_none();
        let all: Vec<PairTraces> =
            explicit.iter().copied().chain(findings.iter().filter(makes_pair).map(own)).collect();
        let splits = split(&all, seed);
        let count = |side: Split| splits.iter().filter(|split| **split == side).count();
        let (train_pairs, eval_pairs, excluded) = (count(Split::Train), count(Split::Eval), count(Split::Excluded));
        let mut rest = splits.iter().copied();
        let explicit = rest.by_ref().take(explicit.len()).collect();
        let findings = findings.iter().map(|finding| if makes_pair(&finding) { rest.next() } else { None }).collect();
        Self { explicit, findings, train_pairs, eval_pairs, excluded_cross_trace_pairs: excluded }
    }

    /// Whether there are enough pairs to train on.
    pub fn is_enough(&self) -> bool {
        self.train_pairs >= PAIRS_MIN
    }

    /// Whether each finding is part of a dataset of the least size: what `included_in_training` says.
    pub fn included(&self) -> impl Iterator<Item = bool> {
        let enough = self.is_enough();
        self.findings.iter().map(move |split| enough && matches!(split, Some(Split::Train | Split::Eval)))
    }
}
