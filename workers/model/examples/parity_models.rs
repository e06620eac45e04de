//! Writes the models and sequences of `stash_model::parity` for `workers/trainer/tests/parity/make_golden.py`:
//! `cargo run -p stash-model --example parity_models -- DIR`.

use std::path::PathBuf;
use std::process::ExitCode;

use stash_model::tiny_base::Kind;
use stash_model::{ModelError, files, parity};

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: parity_models DIR");
        return ExitCode::FAILURE;
    };
    let written = || -> Result<(), ModelError> {
        parity::make(&dir.join("qwen3"), Kind::Qwen3)?;
        parity::make(&dir.join("qwen2"), Kind::Qwen2)?;
        parity::make(&dir.join("llama"), Kind::Llama)?;
        files::write_json(&dir.join("sequences.json"), &parity::sequences())
    };
    match written() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
