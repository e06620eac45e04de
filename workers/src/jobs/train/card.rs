//! The model card in a checkpoint: what it was trained on, how it did, and by what. Nothing a person wrote stands in it, so that
//! the archive says no more about its owner than its weights do.

use super::dataset::{DataPair, Dataset};
use super::deviation::Deviation;
use super::evaluate::Evaluation;
use crate::jobs::Failure;
use serde_json::json;
use stash_domain::learning::frame::{Granularity, Source, Split};
use stash_domain::reward::calibration::Calibration;
use stash_domain::reward::metrics::{Metrics, wilson};
use stash_domain::trace::ActionType;
use stash_model::manifest::{Manifest, Precision};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::path::Path;

/// Its name, by which the hub and people find it.
pub(super) const FILE: &str = "README.md";

/// Writes the card into a checkpoint.
pub(super) fn write(
    checkpoint: &Path,
    base: &str,
    dataset: &Dataset,
    dataset_digest: &str,
    evaluation: &Evaluation,
) -> Result<(), Failure> {
    let manifest = Manifest::read(checkpoint).map_err(Failure::internal)?;
    let counts = Counts::of(dataset, dataset_digest);
    let mut card = String::new();
    text(&mut card, base, &manifest, &counts, evaluation).map_err(Failure::internal)?;
    std::fs::write(checkpoint.join(FILE), card).map_err(Failure::may_pass)
}

/// What the pairs were made of.
struct Counts {
    traces: usize,
    /// SHA-256 of the pairs.
    digest: String,
    /// Where the preferences are from, and the pairs of each.
    sources: Vec<(Source, usize)>,
    /// Of each kind: trained on, held out, left out.
    kinds: [(&'static str, [usize; 3]); 3],
}

impl Counts {
    fn of(dataset: &Dataset, digest: &str) -> Self {
        let sides = dataset.pairs.iter().flat_map(|pair| [pair.chosen, pair.rejected]);
        let traces: BTreeSet<_> = sides.map(|side| dataset.targets[side].rated.key.trace_id).collect();
        let count = |keep: &dyn Fn(&DataPair) -> bool| {
            [Split::Train, Split::Eval, Split::Excluded]
                .map(|split| dataset.pairs.iter().filter(|pair| pair.split == split && keep(pair)).count())
        };
        let is_tool = |pair: &DataPair| pair.action_type == Some(ActionType::ToolCall);
        let kinds = [
            ("whole traces", count(&|pair| pair.granularity == Granularity::Trace)),
            ("responses", count(&|pair| pair.granularity == Granularity::Action && !is_tool(pair))),
            ("tool calls", count(&|pair| pair.granularity == Granularity::Action && is_tool(pair))),
        ];
        let of_source = |source| dataset.pairs.iter().filter(|pair| pair.source == source).count();
        let sources = [Source::ExplicitRating, Source::UserFeedback, Source::AiJudgment]
            .map(|source| (source, of_source(source)))
            .into_iter()
            .filter(|(_, pairs)| *pairs > 0)
            .collect();
        Self { traces: traces.len(), digest: digest.to_owned(), sources, kinds }
    }
}

fn text(card: &mut String, base: &str, manifest: &Manifest, counts: &Counts, evaluation: &Evaluation) -> fmt::Result {
    // A JSON string is a YAML string.
    let name = json!(base);
    writeln!(card, "---\nlibrary_name: transformers\npipeline_tag: text-classification\nbase_model: {name}")?;
    writeln!(card, "tags:\n- reward-model\n---\n\n# Reward model\n")?;
    writeln!(
        card,
        "A personal reward model on {base}: a higher score means that its owner would rather see this action or"
    )?;
    writeln!(card, "trace. Trained with the Bradley–Terry loss. Scores compare texts within this one model.\n")?;
    data(card, counts)?;
    results(card, &evaluation.metrics)?;
    calibration(card, evaluation.calibration.as_ref())?;
    arithmetic(card, manifest, evaluation.deviation.as_ref())?;
    usage(card, manifest)?;
    versions(card, base, manifest, counts, &evaluation.metrics)
}

fn data(card: &mut String, counts: &Counts) -> fmt::Result {
    writeln!(card, "## Data\n\nPairs of texts from {} traces. Where the preferences are from:\n", counts.traces)?;
    for (source, pairs) in &counts.sources {
        let name = match source {
            Source::ExplicitRating => "ratings that people gave",
            Source::UserFeedback => "what people said about an action later",
            Source::AiJudgment => "judgments of a language model",
        };
        writeln!(card, "- {name}: {pairs}")?;
    }
    writeln!(card)?;
    writeln!(card, "| pairs of | trained on | held out | left out |\n|---|---|---|---|")?;
    for (kind, [train, eval, excluded]) in counts.kinds {
        writeln!(card, "| {kind} | {train} | {eval} | {excluded} |")?;
    }
    writeln!(card, "\nThe split is by trace; pairs whose traces fall on both sides are left out.\n")
}

fn results(card: &mut String, metrics: &Metrics) -> fmt::Result {
    writeln!(card, "## Agreement with held-out preferences\n")?;
    writeln!(card, "| pairs | number | accuracy | 95 % interval |\n|---|---|---|---|")?;
    for (kind, count, accuracy) in [
        ("all", metrics.eval_pairs, metrics.eval_accuracy),
        ("actions", metrics.action_eval_pairs, metrics.action_eval_accuracy),
        ("tool calls", metrics.tool_eval_pairs, metrics.tool_eval_accuracy),
    ] {
        match accuracy {
            Some(share) => {
                let [low, high] = wilson(share, count);
                writeln!(card, "| {kind} | {count} | {share:.3} | {low:.3} to {high:.3} |")?;
            }
            None => writeln!(card, "| {kind} | {count} | - | - |")?,
        }
    }
    writeln!(card, "\nThis is agreement with preferences that were given or generated, not success at a task.\n")
}

fn calibration(card: &mut String, calibration: Option<&Calibration>) -> fmt::Result {
    writeln!(card, "## Calibration\n")?;
    let Some(calibration) = calibration else {
        return writeln!(card, "Unknown: no pairs were held out.\n");
    };
    writeln!(
        card,
        "Of held-out pairs, how sure the model was that the side it scores higher is the better one (σ of the"
    )?;
    writeln!(
        card,
        "difference), and how often it was.\n\n| sure | pairs | expected | found | 95 % interval |\n|---|---|---|---|---|"
    )?;
    for bin in &calibration.bins {
        let [low, high] = bin.interval;
        let (from, to) = (bin.from, bin.to);
        writeln!(
            card,
            "| {from:.1} to {to:.1} | {} | {:.3} | {:.3} | {low:.3} to {high:.3} |",
            bin.pairs, bin.expected, bin.found
        )?;
    }
    let (error, loss) = (calibration.error, calibration.loss);
    writeln!(card, "\nExpected calibration error {error:.3}; mean loss {loss:.3} (knowing nothing: 0.693).\n")
}

fn arithmetic(card: &mut String, manifest: &Manifest, deviation: Option<&Deviation>) -> fmt::Result {
    writeln!(card, "## Arithmetic of the scores\n")?;
    let name = manifest.precision.unwrap_or(Precision::Fp32).name();
    let Some(Deviation { texts, largest, of_std, .. }) = deviation else {
        return writeln!(card, "All figures above are of scores in {name}.\n");
    };
    let share = of_std.map(|share| format!(" ({:.2} % of the training scores' deviation)", share * 100.0));
    writeln!(
        card,
        "All figures above are of scores in {name}. On {texts} texts of the training they differ from those in fp32 by\n\
         {largest:.5} at most{}.\n",
        share.unwrap_or_default()
    )
}

fn usage(card: &mut String, manifest: &Manifest) -> fmt::Result {
    writeln!(
        card,
        "## Use\n\n```python\nfrom transformers import AutoModelForSequenceClassification, AutoTokenizer\n"
    )?;
    writeln!(card, "model = AutoModelForSequenceClassification.from_pretrained(\"model\")")?;
    writeln!(card, "tokenizer = AutoTokenizer.from_pretrained(\"model\")")?;
    writeln!(card, "inputs = tokenizer(text, truncation=True, add_special_tokens=False, return_tensors=\"pt\")")?;
    writeln!(card, "score = model(**inputs).logits[0, 0].item()\n```\n")?;
    writeln!(
        card,
        "`text` is a rendered text as `stash export pairs` writes it. Longer texts keep their last {} tokens.",
        manifest.token_limit
    )?;
    writeln!(
        card,
        "`reward_stats.json` and `action_reward_stats.json` (where there is one) hold mean and deviation of the scores of"
    )?;
    writeln!(card, "training texts; an action's credit is `tanh((score - mean) / (2 * std))` by the latter.\n")
}

fn versions(card: &mut String, base: &str, manifest: &Manifest, counts: &Counts, metrics: &Metrics) -> fmt::Result {
    writeln!(card, "## Versions\n\n| what | version |\n|---|---|\n| Stash | {} |", manifest.code_version)?;
    writeln!(
        card,
        "| base | {base}, SHA-256 `{}` |\n| pairs | SHA-256 `{}` |\n| rendering | {} |",
        manifest.base_checksum, counts.digest, manifest.rendering_version
    )?;
    writeln!(card, "| seed | {} |\n| passes over the pairs | {} |", manifest.seed, metrics.epochs)?;
    writeln!(
        card,
        "| trained on | {}, {:.0} s |\n| final loss | {:.4} |",
        metrics.device, metrics.seconds, metrics.final_loss
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use stash_domain::reward::calibration;
    use stash_domain::reward::metrics::{self, ScoredPair, TrainingFigures};
    use stash_model::manifest::TruncationRule;
    use stash_model::tokenize::Form;

    fn card(pairs: &[ScoredPair]) -> String {
        let figures = TrainingFigures { final_loss: 0.25, epochs: 1, device: "cpu".to_owned(), seconds: 61.4 };
        let evaluation = Evaluation {
            metrics: metrics::of(pairs, None, figures),
            action_statistics: None,
            calibration: calibration::of(pairs),
            deviation: Some(Deviation {
                precision: Precision::Bf16,
                texts: 16,
                largest: 0.001_25,
                of_std: Some(0.0021),
            }),
        };
        let manifest = Manifest {
            rendering_version: 1,
            form: Form::Chatml,
            token_limit: 1024,
            truncation: TruncationRule::Strict,
            base_checksum: "ab12".to_owned(),
            seed: 7,
            code_version: "0.1.0".to_owned(),
            precision: Some(Precision::Bf16),
        };
        let counts = Counts {
            traces: 9,
            digest: "cd34".to_owned(),
            sources: vec![(Source::ExplicitRating, 4), (Source::AiJudgment, 3)],
            kinds: [("whole traces", [3, 1, 0]), ("responses", [2, 0, 1]), ("tool calls", [0, 0, 0])],
        };
        let mut card = String::new();
        text(&mut card, "Qwen/Qwen3-0.6B", &manifest, &counts, &evaluation).unwrap();
        card
    }

    #[test]
    fn the_card_says_data_figures_with_intervals_calibration_and_versions() {
        let pair = |margin: f64| ScoredPair {
            chosen: margin,
            rejected: 0.0,
            granularity: Granularity::Trace,
            action_type: None,
            split: Split::Eval,
        };
        let card = card(&[pair(2.0), pair(0.1), pair(-0.1)]);
        for words in [
            "base_model: \"Qwen/Qwen3-0.6B\"",
            "from 9 traces.",
            "- judgments of a language model: 3",
            "| whole traces | 3 | 1 | 0 |",
            "| all | 3 | 0.667 | 0.208 to 0.939 |",
            "| actions | 0 | - | - |",
            "| 0.5 to 0.6 | 2 | 0.525 | 0.500 |",
            "| 0.8 to 0.9 | 1 | 0.881 | 1.000 |",
            "scores in bf16. On 16 texts",
            "0.00125 at most (0.21 % of the training scores' deviation).",
            "| Stash | 0.1.0 |",
            "SHA-256 `ab12`",
            "| pairs | SHA-256 `cd34` |",
        ] {
            assert!(card.contains(words), "{words}\n{card}");
        }
    }

    #[test]
    fn without_held_out_pairs_the_card_says_so() {
        assert!(card(&[]).contains("Unknown: no pairs were held out."));
    }
}
