//! GGUF: what llama.cpp's converter makes of a base comes back as the same base; encodings as ggml decodes them; and files
//! that lie.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

mod writer;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use stash_model::arch::{self, Role};
use stash_model::base;
use stash_model::config::ModelConfig;
use stash_model::gguf::{self, Encoding, GgufFile};
use stash_model::safetensors::{Dtype, Weights};
use stash_model::tiny_base::{self, Kind};
use stash_model::tokenize::{Form, Segmented, TextTokenizer};
use writer::{Entry, Gguf, Matrices};

const KINDS: [Kind; 3] = [Kind::Qwen3, Kind::Qwen2, Kind::Llama];

fn make_base(folder: &Path, kind: Kind) -> PathBuf {
    let base = folder.join("base");
    tiny_base::make_kind(&base, kind, 3).unwrap();
    base
}

/// Imports into a fresh folder below this one.
fn import(folder: &Path, gguf: &Gguf) -> Result<PathBuf, String> {
    let (file, out) = (folder.join("model.gguf"), folder.join("imported"));
    std::fs::write(&file, gguf.bytes()).unwrap();
    std::fs::create_dir_all(&out).unwrap();
    gguf::import(&file, &out, |_| {}).map_err(|error| error.to_string())?;
    Ok(out)
}

/// Largest difference between the weights of two folders.
fn farthest(a: &Path, b: &Path) -> f32 {
    let config = ModelConfig::read(a).unwrap();
    let (mut a, mut b) = (Weights::open(a).unwrap(), Weights::open(b).unwrap());
    let specs = arch::tensors(&config).into_iter().filter(|spec| spec.role != Role::Score);
    specs.fold(0.0, |farthest, spec| {
        let (a, b) = (a.read_f32(&spec.name, &spec.shape).unwrap(), b.read_f32(&spec.name, &spec.shape).unwrap());
        a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(farthest, f32::max)
    })
}

#[test]
fn a_base_that_llama_cpp_has_converted_comes_back() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let base = make_base(folder.path(), kind);
        let imported = import(folder.path(), &Gguf::of(&base, Matrices::F32)).unwrap();
        assert_eq!(farthest(&base, &imported), 0.0, "{kind:?}");
        assert_eq!(base::check(&imported).unwrap().form, Form::Chatml);
        let (ours, theirs) = (ModelConfig::read(&imported).unwrap(), ModelConfig::read(&base).unwrap());
        assert_eq!(ModelConfig { raw: theirs.raw.clone(), ..ours }, theirs);

        let text = "<|im_start|>user\nThe lamp's 2 bulbs — ok?<|im_end|>\n<|im_start|>assistant\nYes.<|im_end|>";
        let second = text.find("\n<|im_start|>assistant").unwrap() as u32;
        let cuts = [second, second + 1, text.len() as u32];
        let ids = |dir: &Path| TextTokenizer::open(dir).unwrap().encode(&Segmented { text, cuts: &cuts }).unwrap();
        assert_eq!(ids(&imported), ids(&base));
        assert_eq!(TextTokenizer::open(&imported).unwrap().pad(), TextTokenizer::open(&base).unwrap().pad());
    }
}

#[test]
fn halves_come_back_as_far_as_they_reach_and_bf16_stays_bf16() {
    let folder = tempfile::tempdir().unwrap();
    let base = make_base(folder.path(), Kind::Llama);
    let imported = import(folder.path(), &Gguf::of(&base, Matrices::F16)).unwrap();
    let far = farthest(&base, &imported);
    assert!(far > 0.0 && far < 2e-3, "{far}");
    let imported = import(folder.path(), &Gguf::of(&base, Matrices::Bf16)).unwrap();
    let far = farthest(&base, &imported);
    assert!(far > 0.0 && far < 1e-2, "{far}");
    let config: Value = serde_json::from_slice(&std::fs::read(imported.join("config.json")).unwrap()).unwrap();
    assert_eq!(config["torch_dtype"], Dtype::Bf16.torch_name());
    // A norm that bf16 does not hold keeps the file in F32.
    let mut gguf = Gguf::of(&base, Matrices::Bf16);
    let norm = gguf.tensors.iter_mut().find(|tensor| tensor.1.len() == 1).unwrap();
    norm.3[..4].copy_from_slice(&1.000_1_f32.to_le_bytes());
    let imported = import(folder.path(), &gguf).unwrap();
    let config: Value = serde_json::from_slice(&std::fs::read(imported.join("config.json")).unwrap()).unwrap();
    assert_eq!(config["torch_dtype"], Dtype::F32.torch_name());
}

#[test]
fn numbers_are_decoded_as_ggml_does() {
    let golden: Value = serde_json::from_str(include_str!("blocks.json")).unwrap();
    for code in 0..64 {
        let Some(encoding) = Encoding::of(code).filter(|encoding| *encoding != Encoding::F32) else { continue };
        let case = &golden[encoding.name()];
        let text = case["bytes"].as_str().unwrap();
        let bytes: Vec<u8> =
            (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect();
        let expected: Vec<f32> =
            case["values"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect();
        assert_eq!(encoding.decode(&bytes), expected, "{encoding:?}");
        assert_eq!(expected.len() * encoding.block_bytes(), bytes.len() * encoding.block_values());
    }
    assert_eq!(golden.as_object().unwrap().len(), Encoding::names().len() - 1, "every encoding but F32 has a case");
}

#[test]
fn what_would_be_computed_otherwise_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let base = make_base(folder.path(), Kind::Llama);
    let whole = || Gguf::of(&base, Matrices::F32);
    let refused = |change: &dyn Fn(&mut Gguf)| {
        let mut gguf = whole();
        change(&mut gguf);
        import(folder.path(), &gguf).unwrap_err()
    };
    let set = |gguf: &mut Gguf, key: &str, entry| gguf.entries.insert(key.to_owned(), entry);
    type Case<'a> = (&'a str, Box<dyn Fn(&mut Gguf)>);
    let cases: Vec<Case<'_>> = vec![
        ("\"gemma3\"", Box::new(move |gguf| drop(set(gguf, "general.architecture", Entry::Text("gemma3".into()))))),
        ("llama.block_count", Box::new(|gguf| drop(gguf.entries.remove("llama.block_count")))),
        (
            "blk.2.attn_norm.weight is missing",
            Box::new(move |gguf| drop(set(gguf, "llama.block_count", Entry::Count(3)))),
        ),
        ("blk.1.", Box::new(move |gguf| drop(set(gguf, "llama.block_count", Entry::Count(1))))),
        ("has shape", Box::new(move |gguf| drop(set(gguf, "llama.feed_forward_length", Entry::Count(255))))),
        ("\"yarn\"", Box::new(move |gguf| drop(set(gguf, "llama.rope.scaling.type", Entry::Text("yarn".into()))))),
        ("rope.dimension_count", Box::new(move |gguf| drop(set(gguf, "llama.rope.dimension_count", Entry::Count(16))))),
        ("expert_count", Box::new(move |gguf| drop(set(gguf, "llama.expert_count", Entry::Count(8))))),
        ("rotary", Box::new(|gguf| gguf.tensors.push(("rope_freqs.weight".into(), vec![16], 0, vec![0; 64])))),
        ("ffn_gate_exps", Box::new(|gguf| gguf.tensors.push(("blk.0.ffn_gate_exps".into(), vec![1], 0, vec![0; 4])))),
        (
            "\"deepseek-r1-qwen\"",
            Box::new(move |gguf| {
                drop(set(gguf, "tokenizer.ggml.pre", Entry::Text("deepseek-r1-qwen".into())));
            }),
        ),
        (
            "the kind \"llama\"",
            Box::new(move |gguf| drop(set(gguf, "tokenizer.ggml.model", Entry::Text("llama".into())))),
        ),
        (
            "stands twice",
            Box::new(|gguf| {
                let Some(Entry::Texts(tokens)) = gguf.entries.get_mut("tokenizer.ggml.tokens") else { return };
                tokens[9] = tokens[8].clone();
            }),
        ),
        ("token types", Box::new(move |gguf| drop(set(gguf, "tokenizer.ggml.token_type", Entry::Numbers(vec![1; 3]))))),
        ("holds inf", Box::new(|gguf| gguf.tensors[3].3[..4].copy_from_slice(&f32::INFINITY.to_le_bytes()))),
        ("type 39", Box::new(|gguf| gguf.tensors[0].2 = 39)),
        (
            "no whole blocks",
            Box::new(|gguf| {
                gguf.tensors[0].1 = vec![97, 2048];
                gguf.tensors[0].2 = 8;
            }),
        ),
        (
            "beyond the file",
            Box::new(|gguf| {
                let last = gguf.tensors.last_mut().unwrap();
                last.3.truncate(last.3.len() - 1);
            }),
        ),
    ];
    for (words, change) in cases {
        let error = refused(&*change);
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// A file that is small enough to try many times.
fn small() -> Vec<u8> {
    let entries = [
        ("general.architecture", Entry::Text("llama".to_owned())),
        ("llama.block_count", Entry::Count(1)),
        ("tokenizer.ggml.tokens", Entry::Texts(vec!["a".to_owned(), "b".to_owned()])),
        ("tokenizer.ggml.token_type", Entry::Numbers(vec![1, 3])),
        ("x", Entry::Flag(true)),
        ("y", Entry::Float(1.0)),
    ];
    let tensors = vec![
        ("token_embd.weight".to_owned(), vec![32, 2], 8, vec![1; 68]),
        ("output_norm.weight".to_owned(), vec![32], 0, vec![0; 128]),
    ];
    Gguf { entries: entries.map(|(key, entry)| (key.to_owned(), entry)).into(), tensors }.bytes()
}

/// Opens these bytes, and reads every tensor where that goes well.
fn look(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gguf");
    std::fs::write(&path, bytes).unwrap();
    let Ok(mut file) = GgufFile::open(&path) else { return false };
    let names: Vec<String> = file.tensors().map(|(name, _)| name.to_owned()).collect();
    for name in &names {
        file.read_f32(name).unwrap();
    }
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    // It is no whole model, so it is refused in some way.
    assert!(gguf::import(&path, &out, |_| {}).is_err());
    true
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let whole = small();
    assert!(look(&whole));
    for length in 0..whole.len() {
        assert!(!look(&whole[..length]), "cut at {length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn changed_bytes_never_break_the_reader(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = small();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        look(&bytes);
    }

    /// A length of the header replaced by one that promises much.
    #[test]
    fn promised_lengths_are_not_allocated(at in any::<prop::sample::Index>(), length in prop_oneof![Just(u64::MAX), Just(1 << 62), Just(1 << 40), Just(1 << 31), any::<u64>()]) {
        let mut bytes = small();
        let at = at.index(bytes.len() - 8);
        bytes[at..at + 8].copy_from_slice(&length.to_le_bytes());
        look(&bytes);
    }
}
