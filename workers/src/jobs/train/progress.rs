//! What the trainer has written of its progress, as few events: a curve of at most [`CURVE_POINTS_MAX`] points, and at most one
//! event for each of them and for each [`TELL_EVERY`].

use serde::Deserialize;
use stash_domain::events::{CurvePoint, TrainingProgress};
use stash_domain::limits::CURVE_POINTS_MAX;
use std::time::{Duration, Instant};

/// Time between two events of a training.
const TELL_EVERY: Duration = Duration::from_secs(3);

/// A line of the trainer's `progress.jsonl`; the file has at most 2,000.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Line {
    step: i32,
    of: i32,
    loss: f64,
    learning_rate: f64,
    eta_s: f64,
}

/// What was told, and when.
#[derive(Debug, Default)]
pub(super) struct Teller {
    /// The step of the last point.
    told: i32,
    at: Option<Instant>,
}

impl Teller {
    /// What to tell now of a progress file: none where too little happened or too little time passed. `is_over`: the trainer has
    /// ended, so the rest is told at once.
    pub(super) fn next(&mut self, text: &str, is_over: bool, now: Instant) -> Option<TrainingProgress> {
        if !is_over && self.at.is_some_and(|at| now.saturating_duration_since(at) < TELL_EVERY) {
            return None;
        }
        let progress = since(text, self.told)?;
        self.told = progress.points.last()?.step;
        self.at = Some(now);
        Some(progress)
    }
}

/// How far the file is, with the points whose steps are all done and come after `told`. None without a new point.
fn since(text: &str, told: i32) -> Option<TrainingProgress> {
    // The last line may be half written.
    let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let last = *lines.last()?;
    let size = last.of.max(1).cast_unsigned().div_ceil(u32::try_from(CURVE_POINTS_MAX).ok()?);
    let place = |line: &Line| line.step.saturating_sub(1).max(0).cast_unsigned() / size;
    let points: Vec<CurvePoint> = lines
        .chunk_by(|one, other| place(one) == place(other))
        .filter_map(|lines| {
            let end = lines.last()?;
            // Lines may be farther apart than steps: the next line shows that a point's steps are done.
            let is_whole =
                end.step.cast_unsigned().is_multiple_of(size) || place(end) < place(&last) || end.step == last.of;
            let loss = lines.iter().map(|line| line.loss).sum::<f64>() / lines.len() as f64;
            (is_whole && end.step > told).then_some(CurvePoint {
                step: end.step,
                loss,
                learning_rate: end.learning_rate,
            })
        })
        .collect();
    (!points.is_empty()).then_some(TrainingProgress { step: last.step, steps: last.of, eta_s: last.eta_s, points })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    fn file(steps: i32, of: i32) -> String {
        let mut text = String::new();
        for step in 1..=steps {
            let eta = f64::from(of - step);
            writeln!(
                text,
                r#"{{"step":{step},"of":{of},"loss":{step}.0,"learning_rate":0.1,"gradient_norm":1.0,"tokens":5,"seconds":1.0,"eta_s":{eta:?}}}"#
            )
            .unwrap();
        }
        text
    }

    #[test]
    fn a_short_training_tells_of_each_step_once() {
        let now = Instant::now();
        let mut teller = Teller::default();
        assert_eq!(teller.next("", false, now), None);
        let half_a_line = file(3, 10) + "{\"step\":4,\"o";
        let first = teller.next(&half_a_line, false, now).unwrap();
        assert_eq!((first.step, first.steps, first.eta_s), (3, 10, 7.0));
        assert_eq!(first.points.iter().map(|point| point.step).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(teller.next(&file(5, 10), false, now + TELL_EVERY / 2), None);
        let second = teller.next(&file(5, 10), false, now + TELL_EVERY).unwrap();
        assert_eq!(second.points.iter().map(|point| point.step).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(teller.next(&file(5, 10), false, now + TELL_EVERY * 2), None);
        assert_eq!(teller.next(&file(10, 10), true, now + TELL_EVERY).unwrap().points.len(), 5);
        assert_eq!(teller.next(&file(10, 10), true, now + TELL_EVERY), None);
    }

    #[test]
    fn a_long_training_has_a_bounded_curve_of_means() {
        let now = Instant::now();
        let mut teller = Teller::default();
        let mut points = Vec::new();
        for done in (1..=1_999).step_by(7).chain([1_999]) {
            let told = teller.next(&file(done, 1_999), done == 1_999, now + TELL_EVERY * done.cast_unsigned());
            points.extend(told.into_iter().flat_map(|told| told.points));
        }
        assert_eq!(points.len(), CURVE_POINTS_MAX);
        assert_eq!((points[0].step, points[0].loss), (10, 5.5));
        assert_eq!(points.last().map(|point| point.step), Some(1_999));
    }
}
