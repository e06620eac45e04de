//! How well a model agrees with held-out preferences.

use super::credit::Statistics;
use crate::learning::frame::{Granularity, Split};
use crate::trace::ActionType;
use serde::{Deserialize, Serialize};

/// A pair with the scores of its sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredPair {
    /// Score of the chosen text.
    pub chosen: f64,
    /// Score of the rejected text.
    pub rejected: f64,
    /// What the pair compares.
    pub granularity: Granularity,
    /// Kind of the actions.
    pub action_type: Option<ActionType>,
    /// What the pair is used for.
    pub split: Split,
}

/// The figures of a training, as the API shows them. Accuracies measure agreement with the preferences that people (or a judge)
/// gave, not whether a task was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Pairs trained on.
    pub train_pairs: u64,
    /// Pairs held out.
    pub eval_pairs: u64,
    /// Share of held-out pairs whose chosen side scores higher; a tie counts half. Null without held-out pairs.
    pub eval_accuracy: Option<f64>,
    /// Its 95 % Wilson interval.
    pub eval_interval: Option<[f64; 2]>,
    /// Always `trace`.
    pub eval_split: String,
    /// Pairs left out because their traces fall on both sides.
    pub excluded_cross_trace_pairs: u64,
    /// 1 when the model learnt from actions and may score them, else null.
    pub action_scoring_version: Option<u32>,
    /// Action pairs trained on.
    pub action_train_pairs: u64,
    /// Action pairs held out.
    pub action_eval_pairs: u64,
    /// As `eval_accuracy`, of action pairs.
    pub action_eval_accuracy: Option<f64>,
    /// Tool-call pairs held out.
    pub tool_eval_pairs: u64,
    /// As `eval_accuracy`, of tool-call pairs.
    pub tool_eval_accuracy: Option<f64>,
    /// Whether the training action texts all score the same, so that every credit is 0.
    pub constant_scores: bool,
    /// Loss of the last step.
    pub final_loss: f64,
    /// Passes over the pairs.
    pub epochs: u32,
    /// What it was computed on, such as `cpu`.
    pub device: String,
    /// Seconds of training.
    pub seconds: f64,
}

/// What the trainer says about its work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TrainingFigures {
    /// Loss of the last step.
    pub final_loss: f64,
    /// Passes over the pairs.
    pub epochs: u32,
    /// What it was computed on.
    pub device: String,
    /// Seconds of training.
    pub seconds: f64,
}

/// The figures, from the scores of the engine that will serve the model. `statistics` are those of the training action pairs.
pub fn of(pairs: &[ScoredPair], statistics: Option<&Statistics>, figures: TrainingFigures) -> Metrics {
    let count = |split: Split, keep: &dyn Fn(&ScoredPair) -> bool| {
        pairs.iter().filter(|pair| pair.split == split && keep(pair)).count() as u64
    };
    let action = |pair: &ScoredPair| pair.granularity == Granularity::Action;
    let tool = |pair: &ScoredPair| pair.action_type == Some(ActionType::ToolCall);
    let action_train_pairs = count(Split::Train, &action);
    let overall = accuracy(pairs, &|_| true);
    Metrics {
        train_pairs: count(Split::Train, &|_| true),
        eval_pairs: count(Split::Eval, &|_| true),
        eval_accuracy: overall.map(|found| found.share),
        eval_interval: overall.map(|found| wilson(found.share, found.count)),
        eval_split: "trace".to_owned(),
        excluded_cross_trace_pairs: count(Split::Excluded, &|_| true),
        action_scoring_version: (action_train_pairs > 0).then_some(1),
        action_train_pairs,
        action_eval_pairs: count(Split::Eval, &action),
        action_eval_accuracy: accuracy(pairs, &action).map(|found| found.share),
        tool_eval_pairs: count(Split::Eval, &tool),
        tool_eval_accuracy: accuracy(pairs, &tool).map(|found| found.share),
        constant_scores: statistics.is_some_and(Statistics::is_constant),
        final_loss: figures.final_loss,
        epochs: figures.epochs,
        device: figures.device,
        seconds: figures.seconds,
    }
}

#[derive(Clone, Copy)]
struct Accuracy {
    share: f64,
    count: u64,
}

fn accuracy(pairs: &[ScoredPair], keep: &dyn Fn(&ScoredPair) -> bool) -> Option<Accuracy> {
    let held: Vec<&ScoredPair> = pairs.iter().filter(|pair| pair.split == Split::Eval && keep(pair)).collect();
    if held.is_empty() {
        return None;
    }
    let won: f64 = held
        .iter()
        .map(|pair| match pair.chosen.partial_cmp(&pair.rejected) {
            Some(std::cmp::Ordering::Greater) => 1.0,
            Some(std::cmp::Ordering::Equal) => 0.5,
            _ => 0.0,
        })
        .sum();
    Some(Accuracy { share: won / held.len() as f64, count: held.len() as u64 })
}

/// The 95 % score interval of a share (Wilson, 1927).
pub fn wilson(share: f64, count: u64) -> [f64; 2] {
    const Z: f64 = 1.959_963_984_540_054;
    let n = count.max(1) as f64;
    let middle = share + Z * Z / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    [((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(chosen: f64, rejected: f64, split: Split, action_type: Option<ActionType>) -> ScoredPair {
        let granularity = if action_type.is_some() { Granularity::Action } else { Granularity::Trace };
        ScoredPair { chosen, rejected, granularity, action_type, split }
    }

    fn figures() -> TrainingFigures {
        TrainingFigures { final_loss: 0.5, epochs: 1, device: "cpu".to_owned(), seconds: 2.0 }
    }

    #[test]
    fn accuracies_are_of_held_out_pairs_by_kind() {
        let tool = Some(ActionType::ToolCall);
        let pairs = [
            pair(1.0, 0.0, Split::Train, tool),
            pair(1.0, 0.0, Split::Eval, tool),
            pair(0.0, 1.0, Split::Eval, Some(ActionType::Response)),
            pair(0.5, 0.5, Split::Eval, None),
            pair(1.0, 0.0, Split::Excluded, None),
        ];
        let metrics = of(&pairs, None, figures());
        assert_eq!((metrics.train_pairs, metrics.eval_pairs, metrics.excluded_cross_trace_pairs), (1, 3, 1));
        assert_eq!(metrics.eval_accuracy, Some(0.5));
        assert_eq!((metrics.action_eval_pairs, metrics.action_eval_accuracy), (2, Some(0.5)));
        assert_eq!((metrics.tool_eval_pairs, metrics.tool_eval_accuracy), (1, Some(1.0)));
        assert_eq!(metrics.action_scoring_version, Some(1));
    }

    #[test]
    fn without_held_out_pairs_there_is_no_accuracy_and_without_action_pairs_no_action_scoring() {
        let metrics = of(&[pair(1.0, 0.0, Split::Train, None)], None, figures());
        assert_eq!((metrics.eval_accuracy, metrics.eval_interval), (None, None));
        assert_eq!(metrics.action_scoring_version, None);
        let json = serde_json::to_value(&metrics).unwrap();
        assert!(json["eval_accuracy"].is_null() && json["action_scoring_version"].is_null());
    }

    #[test]
    fn the_interval_is_wilsons() {
        let [low, high] = wilson(0.9, 100);
        assert!((low - 0.8256).abs() < 1e-3 && (high - 0.9448).abs() < 1e-3);
        assert!(wilson(0.0, 10)[0] < 1e-9);
        assert!(wilson(1.0, 10)[1] > 1.0 - 1e-9);
    }
}
