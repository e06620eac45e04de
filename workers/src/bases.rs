//! Base models on this machine: a folder per base, in Hugging Face layout, under one of the base folders by its name
//! (`Qwen/Qwen3-0.6B` is the folder `Qwen/Qwen3-0.6B`).

use crate::jobs::Failure;
use stash_domain::error::Code;
use std::path::{Component, Path, PathBuf};

/// The folder of a base; none if it is not there. A name that would lead out of the base folders names nothing.
pub fn find(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let relative = Path::new(name);
    if name.is_empty() || !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    folders.iter().map(|folder| folder.join(relative)).find(|path| path.join("config.json").is_file())
}

/// The failure of a job whose base is not there.
pub fn missing(folders: &[PathBuf], name: &str) -> Failure {
    let known = list(folders);
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Failure::of_input(
        Code::UnknownBaseModel,
        format!(
            "the base model {name:?} is not on the worker's machine (there: {known}); the operator adds it there with `stash models \
             add {name}` (from the Hugging Face hub; --folder and --gguf take it from elsewhere)"
        ),
    )
}

/// Names of all bases, sorted.
pub fn list(folders: &[PathBuf]) -> Vec<String> {
    let mut names = Vec::new();
    for folder in folders {
        for first in entries(folder) {
            if first.join("config.json").is_file() {
                names.extend(name_of(folder, &first));
            } else {
                names.extend(
                    entries(&first)
                        .iter()
                        .filter(|path| path.join("config.json").is_file())
                        .filter_map(|path| name_of(folder, path)),
                );
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

fn name_of(folder: &Path, path: &Path) -> Option<String> {
    Some(path.strip_prefix(folder).ok()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_found_by_its_name_and_nothing_outside_is() {
        let root = tempfile::tempdir().unwrap();
        let bases = root.path().join("bases");
        std::fs::create_dir_all(bases.join("stash/tiny")).unwrap();
        std::fs::write(bases.join("stash/tiny/config.json"), "{}").unwrap();
        std::fs::write(root.path().join("config.json"), "{}").unwrap();
        let folders = [bases];
        assert!(find(&folders, "stash/tiny").is_some());
        for bad in ["", "..", "stash/../..", "/", "stash/other"] {
            assert_eq!(find(&folders, bad), None, "{bad:?}");
        }
        assert_eq!(list(&folders), ["stash/tiny"]);
        assert!(missing(&folders, "x").message.contains("stash/tiny"));
    }
}
