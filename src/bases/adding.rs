//! Putting a base together beside its place.

use crate::wiring::data_folder;
use anyhow::{Context as _, bail};
use nix::fcntl::{Flock, FlockArg};
use stash_model::base::{self, Base};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Characters of a part of a name.
const PART_CHARS_MAX: usize = 96;

/// Name of a base: `NAME` or `OWNER/NAME`, as on the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(String);

impl Name {
    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.split('/').collect();
        let is_part = |part: &&str| {
            (1..=PART_CHARS_MAX).contains(&part.len())
                && !part.starts_with('.')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        if (1..=2).contains(&parts.len()) && parts.iter().all(is_part) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "a base is named NAME or OWNER/NAME, each of at most {PART_CHARS_MAX} letters, digits, '.', '_' and '-', not \
                 beginning with '.'"
            ))
        }
    }
}

/// A base that is being put together. One process at a time does so for a name; what it leaves behind when it is stopped is found
/// by the next.
pub(crate) struct Adding {
    folder: PathBuf,
    /// Where a base that is replaced goes until the other is in its place.
    old: PathBuf,
    place: PathBuf,
    replace: bool,
    _alone: Flock<File>,
}

impl Adding {
    /// Begins, or goes on where an earlier process of the same name stopped.
    pub(crate) fn begin(data: &Path, name: &Name, replace: bool) -> anyhow::Result<Self> {
        let place = data_folder::bases(data).join(name.as_str());
        // A folder of names is no base, and a base is no folder of names.
        if let Some(parent) = place.parent().filter(|parent| parent.join("config.json").exists()) {
            bail!("{} is a base itself, so none can be below it", parent.display());
        }
        if place.join("config.json").exists() && !replace {
            bail!("there is a base {} already; --replace puts this one in its place", name.as_str());
        }
        if place.is_dir() && !place.join("config.json").exists() {
            bail!("{} is a folder of other bases", place.display());
        }
        let working = data_folder::spool(data);
        fs::create_dir_all(&working).with_context(|| format!("{} cannot be made", working.display()))?;
        let label = name.as_str().replace('/', "--");
        let lock = working.join(format!("base-{label}.lock"));
        let lock = File::create(&lock).with_context(|| format!("{} cannot be made", lock.display()))?;
        let alone = Flock::lock(lock, FlockArg::LockExclusiveNonblock)
            .map_err(|_| anyhow::anyhow!("another process is adding {} at the moment", name.as_str()))?;
        let (folder, old) = (working.join(format!("base-{label}")), working.join(format!("base-{label}.old")));
        fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(Self { folder, old, place, replace, _alone: alone })
    }

    /// Where its files go.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes what an earlier process left, but for these files.
    pub(crate) fn keep_only(&self, names: &[&str]) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !entry.file_name().to_str().is_some_and(|name| names.contains(&name)) {
                fs::remove_file(entry.path())
                    .with_context(|| format!("{} cannot be removed", entry.path().display()))?;
            }
        }
        Ok(())
    }

    /// Removes what is there.
    fn discard(&self) {
        // What stays is found, and written over, by the next to add this name.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Removes what is there when making it failed.
    pub(crate) fn discard_on_error<T>(&self, result: anyhow::Result<T>) -> anyhow::Result<T> {
        result.inspect_err(|_| self.discard())
    }

    /// Checks the base and moves it to its place.
    ///
    /// # Errors
    /// When it is no base; its files are removed then.
    pub(crate) fn finish(self) -> anyhow::Result<Base> {
        let found = match base::check(&self.folder) {
            Ok(found) => found,
            Err(error) => {
                self.discard();
                return Err(error).context("this is no base that can be trained");
            }
        };
        let parent = self.place.parent().context("a base has a folder above it")?;
        fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
        if self.replace && self.place.exists() {
            // Left by a command that was killed here.
            let _ = fs::remove_dir_all(&self.old);
            fs::rename(&self.place, &self.old)
                .with_context(|| format!("{} cannot be moved away", self.place.display()))?;
        }
        fs::rename(&self.folder, &self.place)
            .with_context(|| format!("{} cannot be put in its place", self.place.display()))?;
        let _ = fs::remove_dir_all(&self.old);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_folder_of_bases() {
        for good in ["a", "Qwen/Qwen3-0.6B", "o_o/x.y"] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        for bad in ["", "/", "a/", "/a", "a/b/c", "..", "a/..", ".a", "a b", "a\\b", &"a".repeat(97)] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_base_appears_whole_and_what_is_none_leaves_nothing() {
        let data = tempfile::tempdir().unwrap();
        let name: Name = "me/small".parse().unwrap();
        let adding = Adding::begin(data.path(), &name, false).unwrap();
        assert!(Adding::begin(data.path(), &name, false).is_err(), "one at a time");
        std::fs::write(adding.folder().join("config.json"), "{}").unwrap();
        let folder = adding.folder().to_owned();
        assert!(adding.finish().is_err());
        assert!(!folder.exists() && !data.path().join("bases/me/small").exists());

        let adding = Adding::begin(data.path(), &name, false).unwrap();
        stash_model::tiny_base::make(adding.folder(), 1).unwrap();
        adding.finish().unwrap();
        assert!(data.path().join("bases/me/small/model.safetensors").is_file());
        let again = Adding::begin(data.path(), &name, false).err().unwrap().to_string();
        assert!(again.contains("--replace"), "{again}");
        let adding = Adding::begin(data.path(), &name, true).unwrap();
        stash_model::tiny_base::make(adding.folder(), 2).unwrap();
        adding.finish().unwrap();
        for other in ["me", "me/small/x"] {
            assert!(
                other.parse::<Name>().is_err() || Adding::begin(data.path(), &other.parse().unwrap(), true).is_err()
            );
        }
    }
}
