//! Base models in the data folder: adding one, from wherever it comes.
//!
//! - [`Adding`]: a place to put a base together, and its move to its name once it is whole and checked
//! - [`folder`]: the files of a folder in Hugging Face layout
//! - [`hub`]: the files of a repository of the Hugging Face hub
//!
//! Invariant: a base is in its place whole, checked and readable, or not at all.

mod adding;
pub(crate) mod folder;
pub(crate) mod hub;

pub(crate) use adding::{Adding, Name};

/// Whether a file of a model's folder is one that a base needs or that says under which terms it may be used. Weights are those in
/// safetensors; what else a folder holds (other formats, images) stays where it is.
fn is_wanted(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "chat_template.jinja",
        "model.safetensors.index.json",
        "LICENSE",
        "README.md",
    ];
    NAMES.contains(&name) || (name.ends_with(".safetensors") && !name.contains(['/', '\\']) && !name.starts_with('.'))
}
