//! Lets the trainer find libtorch where it was linked, so that no `LD_LIBRARY_PATH` is needed at run time.
//!
//! Mirrors the choice of torch-sys: `LIBTORCH_LIB` before `LIBTORCH`, and `/usr` when neither is set. With
//! `LIBTORCH_USE_PYTORCH` the folder is known to Python alone, and the caller sets `LD_LIBRARY_PATH`.

use std::{env, path::PathBuf};

fn main() {
    for name in ["LIBTORCH_LIB", "LIBTORCH", "LIBTORCH_USE_PYTORCH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if env::var_os("LIBTORCH_USE_PYTORCH").is_some() {
        return;
    }
    if let Some(root) = env::var_os("LIBTORCH_LIB").or_else(|| env::var_os("LIBTORCH")) {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", PathBuf::from(root).join("lib").display());
    }
}
