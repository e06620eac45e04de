//! A folder is a base or it is refused with what is wrong in it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use serde_json::Value;
use stash_model::base;
use stash_model::tiny_base;
use std::path::Path;

fn change(dir: &Path, key: &str, value: Value) {
    let path = dir.join("config.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    config[key] = value;
    std::fs::write(&path, config.to_string()).unwrap();
}

/// What is wrong with a folder, and how it comes to be.
type Case<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn the_small_base_is_one_and_its_parameters_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    tiny_base::make(dir.path(), 0).unwrap();
    let found = base::check(dir.path()).unwrap();
    // What the file holds, in four bytes each, is the parameters and a header.
    let bytes = std::fs::metadata(dir.path().join("model.safetensors")).unwrap().len();
    assert!((4 * found.parameters..4 * found.parameters + 8192).contains(&bytes));
}

#[test]
fn what_is_wrong_is_named() {
    let cases: [Case; 6] = [
        ("config.json", &|dir| std::fs::remove_file(dir.join("config.json")).unwrap()),
        ("tokenizer.json", &|dir| std::fs::remove_file(dir.join("tokenizer.json")).unwrap()),
        ("model.safetensors", &|dir| std::fs::remove_file(dir.join("model.safetensors")).unwrap()),
        ("\"gpt2\"", &|dir| change(dir, "model_type", "gpt2".into())),
        ("model.layers.2", &|dir| change(dir, "num_hidden_layers", 3.into())),
        ("the model embeds only 2000", &|dir| change(dir, "vocab_size", 2000.into())),
    ];
    for (words, damage) in cases {
        let dir = tempfile::tempdir().unwrap();
        tiny_base::make(dir.path(), 0).unwrap();
        damage(dir.path());
        let error = base::check(dir.path()).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}
