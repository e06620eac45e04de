//! The programs under test.

use std::path::{Path, PathBuf};

/// The `stash` program of this build.
pub(crate) fn stash() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_stash"))
}

/// The trainer: `STASH_TRAINER_BIN`, else the one beside `stash`.
pub(crate) fn trainer() -> PathBuf {
    let named = std::env::var_os("STASH_TRAINER_BIN").filter(|value| !value.is_empty()).map(PathBuf::from);
    let trainer = named.unwrap_or_else(|| stash().with_file_name("stash-trainer"));
    assert!(
        trainer.is_file(),
        "this test needs the trainer at {}: run `make build`, or `cargo build -p stash-trainer`",
        trainer.display()
    );
    trainer
}
