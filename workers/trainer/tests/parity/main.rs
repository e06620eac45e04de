//! libtorch gives the scores that Hugging Face transformers gave (`make_golden.py`), whatever a text is computed with,
//! and the gradients of two texts apart when they share their beginning.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use std::path::Path;

use serde_json::Value;
use stash_model::parity;
use stash_model::tiny_base::Kind;
use stash_trainer::loss::bradley_terry;
use stash_trainer::model::{Model, Setup};
use stash_trainer::pack::{Batch, Unit};
use stash_trainer::pairs::Pair;
use tch::{Device, Kind as Number, Tensor};

const FAMILIES: [(Kind, &str); 3] = [(Kind::Qwen3, "qwen3"), (Kind::Qwen2, "qwen2"), (Kind::Llama, "llama")];

fn load(kind: Kind, compute: Number) -> Model {
    let dir = tempfile::tempdir().unwrap();
    parity::make(dir.path(), kind).unwrap();
    let setup = Setup { device: Device::Cpu, compute, freeze_embeddings: false, lora: None, max_tokens: 1024, seed: 0 };
    Model::load(dir.path(), &setup).unwrap()
}

fn golden(family: &str) -> Vec<f32> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/parity/{family}.json"));
    let json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(json["std"].as_f64().unwrap() >= 1.0, "scores that hardly differ prove little");
    json["scores"].as_array().unwrap().iter().map(|score| score.as_f64().unwrap() as f32).collect()
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, |far, d| if d.is_nan() { f32::NAN } else { far.max(d) })
}

#[test]
fn scores_are_those_of_transformers() {
    let texts = parity::sequences();
    assert!(texts.len() >= 32 && texts.iter().any(|text| text.last() == Some(&parity::PAD_ID)));
    for (kind, family) in FAMILIES {
        let model = load(kind, Number::Float);
        let alone: Vec<f32> = texts.iter().map(|text| model.score(&[text]).unwrap()[0]).collect();
        let far = farthest(&alone, &golden(family));
        assert!(far <= 1e-4, "{family}: {far}");
        let some: Vec<usize> = (0..texts.len()).filter(|i| i % 2 == parity::PAD_ENDING % 2).take(16).collect();
        let batch: Vec<&[u32]> = some.iter().map(|i| texts[*i].as_slice()).collect();
        let expected: Vec<f32> = some.iter().map(|i| alone[*i]).collect();
        let far = farthest(&model.score(&batch).unwrap(), &expected);
        assert!(far <= 1e-5, "{family}, sixteen at once: {far}");
    }
}

#[test]
fn bf16_keeps_the_order_of_scores() {
    let texts = parity::sequences();
    for (kind, family) in FAMILIES {
        let model = load(kind, Number::BFloat16);
        let scores: Vec<f32> = texts.iter().map(|text| model.score(&[text]).unwrap()[0]).collect();
        let correlation = correlation(&scores, &golden(family));
        assert!(correlation > 0.995, "{family}: {correlation}");
    }
}

fn correlation(a: &[f32], b: &[f32]) -> f32 {
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let dot = |a: &[f32], b: &[f32], ma: f32, mb: f32| a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum::<f32>();
    dot(a, b, mean_a, mean_b) / (dot(a, a, mean_a, mean_a) * dot(b, b, mean_b, mean_b)).sqrt()
}

/// Pairs with a shared beginning of every kind: none, some, one text the beginning of the other, equal texts.
fn pairs() -> Vec<Pair> {
    let ids = parity::sequences();
    let text = |begin: &[u32], rest: &[u32]| [begin, rest].concat();
    let (context, a, b) = (&ids[30][..40], &ids[16][..9], &ids[17][..14]);
    vec![
        Pair { chosen: text(context, a), rejected: text(context, b) },
        Pair { chosen: text(context, b), rejected: text(context, a) },
        Pair { chosen: a.to_vec(), rejected: b.to_vec() },
        Pair { chosen: text(context, a), rejected: context.to_vec() },
        Pair { chosen: context.to_vec(), rejected: text(context, a) },
        Pair { chosen: context.to_vec(), rejected: context.to_vec() },
        Pair { chosen: vec![5], rejected: vec![6] },
    ]
}

fn gradients(model: &Model, loss: &Tensor) -> Vec<Tensor> {
    loss.backward();
    let take = |tensor: &Tensor| {
        let mut tensor = tensor.shallow_clone();
        let grad = tensor.grad().copy();
        tensor.zero_grad();
        grad
    };
    model.weights().iter().map(|weight| take(&weight.tensor)).collect()
}

#[test]
fn packed_pairs_have_the_scores_and_gradients_of_their_texts_apart() {
    for (kind, family) in FAMILIES {
        let model = load(kind, Number::Float);
        let packed: Vec<Unit> = pairs().iter().map(Unit::pair).collect();
        let batch = Batch::new(&packed.iter().collect::<Vec<_>>(), Device::Cpu, Number::Float).unwrap();
        let apart: Vec<Unit> =
            pairs().iter().flat_map(|pair| [Unit::single(&pair.chosen), Unit::single(&pair.rejected)]).collect();
        let apart = Batch::new(&apart.iter().collect::<Vec<_>>(), Device::Cpu, Number::Float).unwrap();
        assert!(batch.tokens < apart.tokens);

        let together = model.forward(&batch).unwrap();
        let separate = model.forward(&apart).unwrap().select(1, 0).view([-1, 2]);
        let far = (&together - &separate).abs().max().double_value(&[]);
        assert!(far <= 1e-4, "{family}: {far}");

        let a = gradients(&model, &bradley_terry(&together, 0.01).unwrap());
        let b = gradients(&model, &bradley_terry(&separate, 0.01).unwrap());
        for ((a, b), weight) in a.iter().zip(&b).zip(model.weights()) {
            let error = ((a - b).norm() / (b.norm() + 1e-12)).double_value(&[]);
            assert!(error <= 1e-4, "{family} {}: {error}", weight.name);
        }
    }
}

#[test]
fn the_loss_is_bradley_terrys() {
    let scores = Tensor::from_slice(&[1.5_f32, -0.5, -1.0, 2.0]).view([2, 2]);
    let expected: f64 = [2.0_f64, -3.0].iter().map(|d| (1.0 + (-d).exp()).ln()).sum();
    assert!((bradley_terry(&scores, 0.0).unwrap().double_value(&[]) - expected).abs() < 1e-6);
    let centred = expected + 0.1 * (1.0 + 1.0);
    assert!((bradley_terry(&scores, 0.1).unwrap().double_value(&[]) - centred).abs() < 1e-6);
}
