//! Keys of named artifacts.

use stash_domain::ids::{OwnerId, RewardModelId};

/// Characters of a kind.
const KIND_CHARS_MAX: usize = 64;

/// Characters of a name.
const NAME_CHARS_MAX: usize = 200;

/// The key of a named artifact: `<kind>/<owner>/<name>`. It is a relative path in a folder and an object key in S3, so it holds
/// nothing that means more there, and nothing personal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactKey {
    text: String,
    owner: OwnerId,
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an artifact key: expected a kind, an owner's id and a name, such as reward-models/<owner>/<model>.tar.gz")]
pub struct BadArtifactKey;

impl ArtifactKey {
    /// The checkpoint of a reward model.
    pub fn reward_model(owner: OwnerId, model: RewardModelId) -> Self {
        Self { text: format!("reward-models/{owner}/{model}.tar.gz"), owner }
    }

    /// Whose it is.
    pub fn owner(&self) -> OwnerId {
        self.owner
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Display for ArtifactKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for ArtifactKey {
    type Err = BadArtifactKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '/');
        let (Some(kind), Some(id), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(BadArtifactKey);
        };
        let kind_ok = kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && (1..=KIND_CHARS_MAX).contains(&kind.len());
        let name_ok = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            && (1..=NAME_CHARS_MAX).contains(&name.len())
            && !name.starts_with('.');
        let owner: OwnerId = id.parse().map_err(|_| BadArtifactKey)?;
        // One spelling only: the UUID parser takes braces and capitals too.
        if kind_ok && name_ok && owner.to_string() == id {
            Ok(Self { text: text.to_owned(), owner })
        } else {
            Err(BadArtifactKey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    #[test]
    fn a_key_survives_its_text_form() {
        let key = ArtifactKey::reward_model(OwnerId(Uuid::from_u128(1)), RewardModelId(Uuid::from_u128(2)));
        assert_eq!(key.to_string().parse(), Ok(key));
    }

    #[test]
    fn what_could_leave_its_folder_is_no_key() {
        let owner = Uuid::from_u128(1);
        for text in [
            String::new(),
            format!("reward-models/{owner}"),
            format!("reward-models/{owner}/"),
            format!("reward-models/{owner}/.hidden"),
            format!("reward-models/{owner}/.."),
            format!("reward-models/{owner}/a/b"),
            format!("reward-models/{owner}/a\0"),
            format!("../{owner}/a"),
            format!("/{owner}/a"),
            "reward-models/../a".to_owned(),
            format!("reward-models/{{{owner}}}/a"),
            format!("reward-models/{owner}/{}", "a".repeat(201)),
        ] {
            assert_eq!(text.parse::<ArtifactKey>(), Err(BadArtifactKey), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn hostile_keys_are_refused_without_panic(text in "\\PC{0,80}") {
            prop_assert!(text.parse::<ArtifactKey>().is_err());
        }
    }
}
