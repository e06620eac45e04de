//! Scores and gradients are those of libtorch's graph over each text by itself, whatever is packed together and whichever
//! code computes it: pairs behind their shared beginning, several of them in a pass, the CPU's own kernels, adapters.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use proptest::prelude::*;
use stash_model::parity;
use stash_model::rng::Rng;
use stash_model::tiny_base::Kind;
use stash_trainer::loss::bradley_terry;
use stash_trainer::model::fused::Fused;
use stash_trainer::model::{Lora, Model, Setup};
use stash_trainer::pack::{Batch, Unit};
use stash_trainer::pairs::Pair;
use tch::{Device, Kind as Number, Tensor, no_grad};

/// Largest difference of gradients, as a share of their length.
const TOLERANCE: f64 = 1e-5;
const CENTER: f64 = 0.01;

/// What a pass is computed by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Engine {
    Plain,
    Fused,
}

fn load(kind: Kind, compute: Number, lora: Option<Lora>) -> Model {
    let dir = tempfile::tempdir().unwrap();
    parity::make(dir.path(), kind).unwrap();
    let setup = Setup { device: Device::Cpu, compute, freeze_embeddings: false, lora, max_tokens: 1024, seed: 3 };
    let model = Model::load(dir.path(), &setup).unwrap();
    // An adapter's second matrix begins at 0, which would leave the first without a gradient.
    for adapter in model.trained().filter(|named| named.name.ends_with("lora_b")) {
        let mut tensor = adapter.tensor.shallow_clone();
        let values = Rng::for_part(1, &adapter.name).normals(tensor.numel(), 0.05);
        let values = Tensor::from_slice(&values).view(tensor.size().as_slice());
        no_grad(|| tensor.copy_(&values));
    }
    model
}

/// Loss, scores and gradients of a pass over some pairs.
struct Outcome {
    loss: f64,
    scores: Vec<f32>,
    gradients: Vec<(String, Tensor)>,
}

fn compute(model: &mut Model, engine: Engine, pairs: &[Pair], packed: bool) -> Outcome {
    let units: Vec<Unit> = if packed {
        pairs.iter().map(Unit::pair).collect()
    } else {
        pairs.iter().flat_map(|pair| [Unit::single(&pair.chosen), Unit::single(&pair.rejected)]).collect()
    };
    let units: Vec<&Unit> = units.iter().collect();
    let batch = Batch::new(&units, Device::Cpu, model.compute()).unwrap();
    let mut scores = Vec::new();
    let mut loss_of = |unit_scores: &Tensor| {
        let of_pairs = if packed { unit_scores.shallow_clone() } else { unit_scores.select(1, 0).reshape([-1, 2]) };
        scores = Vec::<f32>::try_from(&of_pairs.detach().flatten(0, -1)).unwrap();
        bradley_terry(&of_pairs, CENTER)
    };
    let loss = match engine {
        Engine::Plain => {
            let loss = loss_of(&model.forward(&batch).unwrap()).unwrap();
            loss.backward();
            loss.double_value(&[])
        }
        Engine::Fused => Fused::new(model).unwrap().pass(model, &units, &batch, loss_of).unwrap(),
    };
    let take = |tensor: &Tensor| {
        let mut tensor = tensor.shallow_clone();
        let gradient = tensor.grad().copy();
        tensor.zero_grad();
        gradient
    };
    let gradients = model.trained().map(|named| (named.name.clone(), take(&named.tensor))).collect();
    Outcome { loss, scores, gradients }
}

/// The length of the difference of all gradients, as a share of the second's; and the greatest of any weight.
fn distance(a: &Outcome, b: &Outcome) -> (f64, f64) {
    let square = |tensor: &Tensor| tensor.to_kind(Number::Double).square().sum(Number::Double).double_value(&[]);
    let (mut difference, mut length, mut greatest) = (0.0, 0.0, 0.0_f64);
    for ((name, a), (name_b, b)) in a.gradients.iter().zip(&b.gradients) {
        assert_eq!(name, name_b);
        let (d, l) = (square(&(a.to_kind(Number::Double) - b.to_kind(Number::Double))), square(b));
        greatest = greatest.max((d / l.max(1e-20)).sqrt());
        (difference, length) = (difference + d, length + l);
    }
    assert!(length > 0.0);
    ((difference / length).sqrt(), greatest)
}

fn check(kind: Kind, lora: Option<Lora>, pairs: &[Pair]) {
    let mut model = load(kind, Number::Float, lora);
    let reference = compute(&mut model, Engine::Plain, pairs, false);
    for (engine, packed) in [(Engine::Plain, true), (Engine::Fused, true), (Engine::Fused, false)] {
        let outcome = compute(&mut model, engine, pairs, packed);
        let (all, worst) = distance(&outcome, &reference);
        let context = format!("{kind:?} {engine:?}, packed: {packed}, {lora:?}: {all:e}, worst {worst:e}");
        assert!(all <= TOLERANCE && worst <= 20.0 * TOLERANCE, "{context}");
        for (a, b) in outcome.scores.iter().zip(&reference.scores) {
            assert!((a - b).abs() <= 2e-5 * (1.0 + b.abs()), "{context}: scores {a} and {b}");
        }
        assert!((outcome.loss - reference.loss).abs() <= 2e-5 * (1.0 + reference.loss), "{context}");
    }
}

fn text(rng: &mut Rng, length: usize) -> Vec<u32> {
    (0..length).map(|_| 1 + rng.below(290) as u32).collect()
}

/// A pair of some tokens in common and some of each side's own.
fn pair(rng: &mut Rng, shared: usize, chosen: usize, rejected: usize) -> Pair {
    let context = text(rng, shared);
    let mut side = |own: usize| [context.clone(), text(rng, own)].concat();
    Pair { chosen: side(chosen), rejected: side(rejected) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn packed_texts_have_the_scores_and_gradients_of_texts_apart(
        lengths in proptest::collection::vec((0usize..90, 0usize..40, 0usize..40), 1..6),
        seed: u64,
        family in 0usize..3,
        adapters: bool,
    ) {
        let mut rng = Rng::new(seed);
        let lengths = lengths.into_iter().map(|(shared, a, b)| if shared == 0 { (0, a + 1, b + 1) } else { (shared, a, b) });
        let pairs: Vec<Pair> = lengths.map(|(shared, a, b)| pair(&mut rng, shared, a, b)).collect();
        let kind = [Kind::Qwen3, Kind::Qwen2, Kind::Llama][family];
        check(kind, adapters.then_some(Lora { rank: 4, alpha: 8.0 }), &pairs);
    }
}

#[test]
fn texts_cut_to_different_beginnings_are_packed_as_two() {
    let mut rng = Rng::new(5);
    let long = pair(&mut rng, 300, 20, 35);
    // What the strict rule makes of it at a limit of 200: each side keeps its own last tokens.
    let cut = |ids: &[u32]| ids[ids.len() - 200..].to_vec();
    let cut = Pair { chosen: cut(&long.chosen), rejected: cut(&long.rejected) };
    let unit = Unit::pair(&cut);
    assert!(unit.shared < 3 && unit.len() > 397);
    let short = pair(&mut rng, 60, 9, 4);
    check(Kind::Qwen3, None, &[cut, short]);
}

#[test]
fn bfloat_gradients_point_the_same_way() {
    let mut rng = Rng::new(6);
    let pairs = [pair(&mut rng, 70, 20, 9), pair(&mut rng, 0, 30, 41), pair(&mut rng, 120, 1, 30)];
    for kind in [Kind::Qwen3, Kind::Qwen2, Kind::Llama] {
        let exact = compute(&mut load(kind, Number::Float, None), Engine::Plain, &pairs, false);
        let angle = |engine| {
            let mut model = load(kind, Number::BFloat16, None);
            distance(&compute(&mut model, engine, &pairs, true), &exact).0
        };
        let (plain, fused) = (angle(Engine::Plain), angle(Engine::Fused));
        assert!(fused <= plain.max(0.02) * 1.2, "{kind:?}: {fused} by kernels, {plain} by libtorch's graph");
    }
}
