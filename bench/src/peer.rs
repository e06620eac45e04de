//! Other programs that a figure is measured beside. They are Python packages, in a virtual environment that is made from
//! `bench/peers/<name>.txt` when a job first needs it, and never by the product.
//!
//! Where `STASH_BENCH_VENV_<NAME>` points at an environment that has the packages already, that one is used: some take
//! gigabytes. Else it is made in the folder of `STASH_DEPS_DIR`, or in `.deps`, once for each content of the file.

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of programs of the environment that has a peer's packages.
///
/// # Errors
/// When it cannot be made; the text says what pip said.
pub(crate) fn programs(repository: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let variable = format!("STASH_BENCH_VENV_{}", name.to_uppercase());
    if let Some(folder) = std::env::var_os(&variable) {
        let programs = PathBuf::from(folder).join("bin");
        ensure!(
            programs.join("python").exists(),
            "{variable} is set, but {} is no such environment",
            programs.display()
        );
        return Ok(programs);
    }
    let list = repository.join(format!("bench/peers/{name}.txt"));
    let wanted = std::fs::read(&list).with_context(|| format!("{} cannot be read", list.display()))?;
    let deps = std::env::var_os("STASH_DEPS_DIR").map_or_else(|| repository.join(".deps"), PathBuf::from);
    let digest = hex::encode(Sha256::digest(&wanted));
    let folder = deps.join(format!("peers/{name}-{}", digest.get(..12).unwrap_or_default()));
    let programs = folder.join("bin");
    let done = folder.join("done");
    if !done.exists() {
        eprintln!("making {} with the packages of {}", folder.display(), list.display());
        run(Command::new("python3").arg("-m").arg("venv").arg("--clear").arg(&folder))?;
        run(Command::new(programs.join("pip")).args(["install", "--quiet", "--requirement"]).arg(&list))?;
        std::fs::write(&done, "")?;
    }
    Ok(programs)
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?} cannot be run"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
