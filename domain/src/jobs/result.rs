//! What must hold of a job's scores before anything of them is published.

use crate::ids::{StepId, TraceId};
use crate::reward::frame::ScoresFrame;

/// Why scores are not published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadScores {
    /// Traces or actions are missing, doubled or strange.
    #[error("the scores of trace {0} are not those of its actions")]
    Ids(TraceId),
    /// A score is not a number, or infinite.
    #[error("a score of trace {0} is not finite")]
    NotFinite(TraceId),
    /// A credit lies outside -1 to 1.
    #[error("a credit of trace {0} lies outside -1 to 1")]
    Credit(TraceId),
    /// Not every trace has its scores.
    #[error("{asked} traces were to be scored and {scored} are")]
    Count {
        /// Traces to score.
        asked: usize,
        /// Traces scored.
        scored: usize,
    },
}

/// Checks one trace's scores.
///
/// # Errors
/// [`BadScores`].
pub fn check_trace(asked: &[StepId], frame: &ScoresFrame) -> Result<(), BadScores> {
    let trace = frame.trace_id;
    if !frame.actions.iter().map(|action| &action.step_id).eq(asked.iter()) {
        return Err(BadScores::Ids(trace));
    }
    let finite = |score: f64| score.is_finite();
    if frame.score.is_some_and(|score| !finite(score)) || !frame.actions.iter().all(|action| finite(action.score)) {
        return Err(BadScores::NotFinite(trace));
    }
    // Also refuses a credit that is not a number.
    if !frame.actions.iter().all(|action| (-1.0..=1.0).contains(&action.credit)) {
        return Err(BadScores::Credit(trace));
    }
    Ok(())
}

/// Checks that exactly the traces asked for are scored.
///
/// # Errors
/// [`BadScores::Count`].
pub fn check_count(asked: usize, scored: usize) -> Result<(), BadScores> {
    if asked == scored { Ok(()) } else { Err(BadScores::Count { asked, scored }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Digest;
    use crate::reward::frame::ActionScore;
    use uuid::Uuid;

    fn frame(scores: &[(u128, f64, f64)]) -> ScoresFrame {
        let actions = scores
            .iter()
            .map(|(id, score, credit)| ActionScore {
                step_id: StepId(Uuid::from_u128(*id)),
                digest: Digest::of(b"x"),
                score: *score,
                credit: *credit,
                truncated: None,
            })
            .collect();
        ScoresFrame {
            trace_id: TraceId(Uuid::nil()),
            digest: Digest::of(b"t"),
            score: Some(0.0),
            truncated: None,
            actions,
        }
    }

    fn steps(ids: &[u128]) -> Vec<StepId> {
        ids.iter().map(|id| StepId(Uuid::from_u128(*id))).collect()
    }

    #[test]
    fn only_exact_ids_finite_scores_and_bounded_credit_pass() {
        let good = frame(&[(1, 0.5, 0.1), (2, -3.0, -1.0)]);
        assert_eq!(check_trace(&steps(&[1, 2]), &good), Ok(()));
        let trace = good.trace_id;
        assert_eq!(check_trace(&steps(&[1]), &good), Err(BadScores::Ids(trace)));
        assert_eq!(check_trace(&steps(&[2, 1]), &good), Err(BadScores::Ids(trace)));
        assert_eq!(check_trace(&steps(&[1]), &frame(&[(1, f64::NAN, 0.0)])), Err(BadScores::NotFinite(trace)));
        assert_eq!(check_trace(&steps(&[1]), &frame(&[(1, 1.0, 1.5)])), Err(BadScores::Credit(trace)));
        assert_eq!(check_trace(&steps(&[1]), &frame(&[(1, 1.0, f64::NAN)])), Err(BadScores::Credit(trace)));
    }
}
