//! The text of an API key: what a caller sends, and what is shown once.

use super::error::IdentityError;
use rand::TryRng as _;
use rand::rngs::SysRng;
use sha2::{Digest as _, Sha256};
use stash_domain::ids::ApiKeyId;
use uuid::Uuid;
use zeroize::Zeroizing;

/// So that a person, or a scanner of source code, recognises a key that lies about.
const PREFIX: &str = "stash_";

/// Digits, then letters: no character that a shell, a URL or a double click would break at.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Characters for 128 bits: 62^22 > 2^128 > 62^21.
const GROUP_CHARS: usize = 22;

/// Characters of a key that are shown in lists: the prefix and the start of the id.
const SHOWN_CHARS: usize = PREFIX.len() + 6;

/// A key's text. Shows nothing of itself but by [`KeyText::expose`], and is wiped when dropped.
#[derive(Clone)]
pub struct KeyText(Zeroizing<String>);

impl KeyText {
    /// A fresh key for this id.
    pub(super) fn generate(id: ApiKeyId) -> Result<Self, IdentityError> {
        let mut secret = Zeroizing::new([0_u8; 32]);
        SysRng.try_fill_bytes(secret.as_mut_slice()).map_err(|_| IdentityError::NoRandomness)?;
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + 3 * GROUP_CHARS));
        text.push_str(PREFIX);
        push_group(&mut text, id.0.as_u128());
        for half in secret.chunks_exact(16) {
            push_group(&mut text, half.iter().fold(0, |number, byte| (number << 8) | u128::from(*byte)));
        }
        Ok(Self(text))
    }

    /// The text itself, to show it once.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What may be shown of it later.
    pub fn shown(&self) -> &str {
        self.0.get(..SHOWN_CHARS).unwrap_or(PREFIX)
    }
}

impl std::fmt::Debug for KeyText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyText({}…)", self.shown())
    }
}

/// The parts of a key that somebody sent: its id, and the hash of its secret part. `None`: it is no key of ours.
pub(super) fn parse(text: &str) -> Option<(ApiKeyId, [u8; 32])> {
    let rest = text.strip_prefix(PREFIX)?;
    if rest.len() != 3 * GROUP_CHARS || !rest.is_ascii() {
        return None;
    }
    let id = read_group(rest.get(..GROUP_CHARS)?)?;
    let secret = rest.get(GROUP_CHARS..)?;
    // Each half must be a number that generation could have made, so that a key has one text only.
    read_group(secret.get(..GROUP_CHARS)?)?;
    read_group(secret.get(GROUP_CHARS..)?)?;
    Some((ApiKeyId(Uuid::from_u128(id)), Sha256::digest(secret.as_bytes()).into()))
}

fn push_group(text: &mut String, mut number: u128) {
    let mut group = Zeroizing::new([b'0'; GROUP_CHARS]);
    for place in group.iter_mut().rev() {
        *place = ALPHABET[(number % 62) as usize];
        number /= 62;
    }
    text.extend(group.iter().copied().map(char::from));
}

fn read_group(text: &str) -> Option<u128> {
    text.bytes().try_fold(0_u128, |number, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            b'a'..=b'z' => byte - b'a' + 36,
            _ => return None,
        };
        number.checked_mul(62)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_is_found_by_its_id_and_another_secret_has_another_hash() {
        let id = ApiKeyId(Uuid::from_u128(u128::MAX - 5));
        let (one, two) = (KeyText::generate(id).unwrap(), KeyText::generate(id).unwrap());
        let ((id_one, hash_one), (id_two, hash_two)) = (parse(one.expose()).unwrap(), parse(two.expose()).unwrap());
        assert_eq!((id_one, id_two), (id, id));
        assert_ne!(hash_one, hash_two);
        assert_eq!(one.expose().len(), 72);
    }

    #[test]
    fn a_key_does_not_show_its_secret() {
        let key = KeyText::generate(ApiKeyId(Uuid::from_u128(7))).unwrap();
        let shown = format!("{key:?} {}", key.shown());
        assert!(!shown.contains(&key.expose()[28..]), "{shown}");
    }

    proptest! {
        #[test]
        fn numbers_survive_their_text(number: u128) {
            let mut text = String::new();
            push_group(&mut text, number);
            prop_assert_eq!(text.len(), GROUP_CHARS);
            prop_assert_eq!(read_group(&text), Some(number));
        }

        #[test]
        fn hostile_texts_are_refused_without_panic(text in "(stash_)?.{0,80}") {
            let _ = parse(&text);
        }

        #[test]
        fn a_changed_key_is_another_key(place in 6_usize..72, byte in 0_usize..62) {
            let key = KeyText::generate(ApiKeyId(Uuid::from_u128(9))).unwrap();
            let mut changed = key.expose().to_owned().into_bytes();
            prop_assume!(changed[place] != ALPHABET[byte]);
            changed[place] = ALPHABET[byte];
            prop_assert_ne!(parse(std::str::from_utf8(&changed).unwrap()), parse(key.expose()));
        }
    }
}
