//! The curve of a training as its progress tells it, attempt after attempt.

use crate::events::{CurvePoint, TrainingProgress};
use crate::limits::CURVE_POINTS_MAX;
use serde::{Deserialize, Serialize};

/// How far the steps of a training are, and its curve so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Optimizer steps done.
    pub step: i32,
    /// Steps of the training.
    pub steps: i32,
    /// Seconds that the other steps would take, as of the last event.
    pub eta_s: f64,
    /// Points in rising order of their steps, at most [`CURVE_POINTS_MAX`].
    pub points: Vec<CurvePoint>,
}

/// The curve after some progress. An attempt that goes on from a saved state, or begins anew, makes steps once more that one
/// before had told of; its points stand in their place.
pub fn fold(curve: Option<Curve>, progress: &TrainingProgress) -> Curve {
    let from = progress.points.first().map_or(progress.step.saturating_add(1), |point| point.step);
    let mut points = curve.map_or_else(Vec::new, |curve| curve.points);
    points.retain(|point| point.step < from);
    let mut last = points.last().map_or(i32::MIN, |point| point.step);
    for point in &progress.points {
        if points.len() < CURVE_POINTS_MAX && (points.is_empty() || point.step > last) {
            last = point.step;
            points.push(*point);
        }
    }
    Curve { step: progress.step, steps: progress.steps, eta_s: progress.eta_s, points }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(step: i32, points: &[i32]) -> TrainingProgress {
        let point = |step: &i32| CurvePoint { step: *step, loss: f64::from(*step), learning_rate: 1e-5 };
        TrainingProgress { step, steps: 1_000, eta_s: 2.0, points: points.iter().map(point).collect() }
    }

    fn steps(curve: &Curve) -> Vec<i32> {
        curve.points.iter().map(|point| point.step).collect()
    }

    #[test]
    fn an_attempt_that_goes_on_takes_the_place_of_the_steps_it_makes_again() {
        let curve = fold(Some(fold(None, &progress(2, &[1, 2]))), &progress(5, &[3, 4, 5]));
        assert_eq!(steps(&curve), [1, 2, 3, 4, 5]);
        let resumed = fold(Some(curve.clone()), &progress(5, &[4, 5]));
        assert_eq!(steps(&resumed), [1, 2, 3, 4, 5]);
        let anew = fold(Some(curve), &progress(1, &[1]));
        assert_eq!((steps(&anew), anew.step), (vec![1], 1));
    }

    #[test]
    fn a_curve_is_bounded_and_rises_whatever_it_is_told() {
        let all: Vec<i32> = (1..=300).collect();
        assert_eq!(fold(None, &progress(300, &all)).points.len(), CURVE_POINTS_MAX);
        assert_eq!(steps(&fold(None, &progress(3, &[3, 1, 2, 3, 4]))), [3, 4]);
    }
}
