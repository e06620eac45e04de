//! From a raw score to the display scale.

/// Below this standard deviation the training scores do not differ: every credit is 0, and the model is flagged.
pub const STD_MIN: f64 = 1e-6;

/// Mean and standard deviation of the scores that a model gives to the texts it was trained on.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Statistics {
    /// Arithmetic mean.
    pub mean: f64,
    /// Population standard deviation (divided by n: the training texts are all there is, not a sample of them).
    pub std: f64,
    /// How many scores.
    pub count: u64,
}

impl Statistics {
    /// The statistics of these scores; none for no scores, or if one is not finite. Two passes, so that large means lose nothing.
    pub fn of(scores: &[f64]) -> Option<Self> {
        if scores.is_empty() || scores.iter().any(|score| !score.is_finite()) {
            return None;
        }
        let count = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / count;
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count;
        Some(Self { mean, std: variance.sqrt(), count: scores.len() as u64 })
    }

    /// Whether the scores do not differ.
    pub fn is_constant(&self) -> bool {
        self.std < STD_MIN
    }

    /// The place of a score on the display scale: `tanh((score - mean) / (2 std))`, from -1 to 1 (product specification, learned
    /// action credit); 0 when the training scores do not differ.
    pub fn credit(&self, score: f64) -> f64 {
        if self.is_constant() { 0.0 } else { ((score - self.mean) / (2.0 * self.std)).tanh() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_mean_has_no_credit_and_two_deviations_have_tanh_of_one() {
        let statistics = Statistics::of(&[1.0, 3.0]).unwrap();
        assert_eq!((statistics.mean, statistics.std, statistics.count), (2.0, 1.0, 2));
        assert_eq!(statistics.credit(2.0), 0.0);
        assert!((statistics.credit(4.0) - 1.0_f64.tanh()).abs() < 1e-12);
    }

    #[test]
    fn equal_scores_have_no_credit() {
        let statistics = Statistics::of(&[0.5; 4]).unwrap();
        assert!(statistics.is_constant());
        assert_eq!(statistics.credit(100.0), 0.0);
        assert_eq!(Statistics::of(&[]), None);
        assert_eq!(Statistics::of(&[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn credit_is_bounded_and_keeps_the_order(scores in prop::collection::vec(-1e6_f64..1e6, 2..50), a in -1e7_f64..1e7, b in -1e7_f64..1e7) {
            let statistics = Statistics::of(&scores).unwrap();
            let (low, high) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!((-1.0..=1.0).contains(&statistics.credit(a)));
            prop_assert!(statistics.credit(low) <= statistics.credit(high));
        }
    }
}
