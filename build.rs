//! Compiles the pages of `docs/errors/` into the program.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    let folder = root.join("docs/errors");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
        if let (Some(name), Some("md")) = (name, path.extension().and_then(|ext| ext.to_str())) {
            pages.push((name, path));
        }
    }
    pages.sort();
    let mut code = String::from("/// The pages: code and text.\nconst PAGES: &[(&str, &str)] = &[\n");
    for (name, path) in pages {
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    code.push_str("];\n");
    fs::write(out.join("error_pages.rs"), code)
}
