//! Pairs of findings: what was done, and what would stand in its place.

use super::dataset::{DataPair, Target};
use stash_domain::ids::Digest;
use stash_domain::learning::extraction::{Finding, Preferred};
use stash_domain::learning::frame::{Granularity, PairEvidence, Split};
use stash_domain::learning::pairs::Rated;
use stash_domain::learning::ratings::{Liking, TargetKey};
use stash_domain::rendering::Revision;

/// The pair of a finding, its two targets added to the others; none for a finding that makes none.
pub(super) fn pair(finding: &Finding, split: Split, targets: &mut Vec<Target>) -> Option<DataPair> {
    let (revision, revised, preferred) = (finding.revision.clone()?, finding.revision_digest?, finding.preferred?);
    let original_wins = preferred == Preferred::Original;
    let mut add = |digest: Digest, revision: Option<Revision>, wins: bool| {
        let liking = if wins { Liking::Positive } else { Liking::Negative };
        let key = TargetKey { trace_id: finding.trace_id, step_id: Some(finding.step_id) };
        let action_type = Some(finding.action_type);
        // Both sides have the same context, which nobody looks for any more: the pair is made.
        let rated = Rated { key, action_type, liking, digest, context: None, first_user: None };
        targets.push(Target { rated, revision, text: None });
        targets.len().saturating_sub(1)
    };
    let original = add(finding.digest, None, original_wins);
    let alternative = add(revised, Some(revision), !original_wins);
    let (chosen, rejected) = if original_wins { (original, alternative) } else { (alternative, original) };
    Some(DataPair {
        chosen,
        rejected,
        granularity: Granularity::Action,
        action_type: Some(finding.action_type),
        source: finding.source,
        evidence: Some(PairEvidence::of(finding)),
        split,
    })
}
