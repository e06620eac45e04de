//! Links that let whoever holds them fetch one artifact for five minutes, from a store that we serve ourselves.
//!
//! ```text
//! <base>/<kind>/<owner>/<name>?expires=<Unix seconds>&signature=<64 hexadecimal digits>
//! ```
//!
//! The signature is an HMAC-SHA256, under a key derived from the master key, of the artifact's key (its owner included) and the
//! expiry. Links signed under an older master key hold until a rotation removes that key, or the process starts anew after it.

use super::key::ArtifactKey;
use crate::subject_keys::{KEY_BYTES, MasterKeys};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use stash_domain::time::Timestamp;
use zeroize::Zeroizing;

/// Seconds for which a link is valid.
pub const VALID_S: i64 = 5 * 60;

const SECOND_US: i64 = 1_000_000;

/// The query of a link, as a server reads it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct LinkQuery {
    /// Unix time in seconds at which it ends.
    pub expires: i64,
    /// Hexadecimal.
    pub signature: String,
}

/// Why a link is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// It was changed, or was never ours.
    #[error("the link's signature is wrong: ask for a new link")]
    Signature,
    /// Its time is over.
    #[error("the link has expired: ask for a new link")]
    Expired,
}

/// Makes and checks links.
pub struct LinkSigner {
    /// The first signs, all are accepted.
    keys: Vec<Zeroizing<[u8; KEY_BYTES]>>,
}

impl LinkSigner {
    /// Signs under the current master key.
    pub fn new(masters: &MasterKeys) -> Self {
        Self { keys: masters.iter().map(|key| Zeroizing::new(*key.link_key())).collect() }
    }

    /// The query of a link made now, and when it ends.
    pub fn sign(&self, key: &ArtifactKey, now: Timestamp) -> (LinkQuery, Timestamp) {
        let expires = (now.0 / SECOND_US).saturating_add(VALID_S);
        // There is always a current master key.
        let mac = self.keys.first().and_then(|secret| mac(secret, key, expires));
        let signature = mac.map(|mac| hex::encode(mac.finalize().into_bytes())).unwrap_or_default();
        (LinkQuery { expires, signature }, Timestamp(expires.saturating_mul(SECOND_US)))
    }

    /// Whether this query allows to fetch this artifact now. Signatures are compared in constant time.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn verify(&self, key: &ArtifactKey, query: &LinkQuery, now: Timestamp) -> Result<(), LinkError> {
        let mut signature = [0; KEY_BYTES];
        hex::decode_to_slice(&query.signature, &mut signature).map_err(|_| LinkError::Signature)?;
        let ours = self
            .keys
            .iter()
            .any(|secret| mac(secret, key, query.expires).is_some_and(|mac| mac.verify_slice(&signature).is_ok()));
        if !ours {
            Err(LinkError::Signature)
        } else if now.0 >= query.expires.saturating_mul(SECOND_US) {
            Err(LinkError::Expired)
        } else {
            Ok(())
        }
    }
}

/// The MAC of a link. HMAC takes keys of any length, so there always is one.
fn mac(secret: &[u8; KEY_BYTES], key: &ArtifactKey, expires: i64) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    // A key has no line break, so the parts cannot run into each other.
    mac.update(format!("stash link 1\n{key}\n{expires}").as_bytes());
    Some(mac)
}

impl std::fmt::Display for LinkQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expires={}&signature={}", self.expires, self.signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject_keys::MasterKey;
    use proptest::prelude::*;
    use stash_domain::ids::{OwnerId, RewardModelId};
    use uuid::Uuid;

    fn key(owner: u128) -> ArtifactKey {
        ArtifactKey::reward_model(OwnerId(Uuid::from_u128(owner)), RewardModelId(Uuid::from_u128(7)))
    }

    fn masters() -> MasterKeys {
        MasterKeys::new(MasterKey::generate().unwrap(), Vec::new())
    }

    proptest! {
        #[test]
        fn a_link_holds_for_five_minutes(now in 0..i64::MAX / 4, later in 0..10 * 60 * SECOND_US) {
            let signer = LinkSigner::new(&masters());
            let (query, expires_at) = signer.sign(&key(1), Timestamp(now));
            prop_assert!((now..=now + VALID_S * SECOND_US).contains(&expires_at.0) && expires_at.0 > now + (VALID_S - 1) * SECOND_US);
            let then = Timestamp(now + later);
            let expected = if then < expires_at { Ok(()) } else { Err(LinkError::Expired) };
            prop_assert_eq!(signer.verify(&key(1), &query, then), expected);
        }

        #[test]
        fn a_changed_link_is_refused(at in 0..64_usize, digit in "[0-9a-f]", longer in 1..1000_i64) {
            let signer = LinkSigner::new(&masters());
            let now = Timestamp(1_000_000_000);
            let (query, _) = signer.sign(&key(1), now);
            let mut changed = query.clone();
            changed.signature.replace_range(at..=at, &digit);
            if changed != query {
                prop_assert_eq!(signer.verify(&key(1), &changed, now), Err(LinkError::Signature));
            }
            let extended = LinkQuery { expires: query.expires + longer, ..query.clone() };
            prop_assert_eq!(signer.verify(&key(1), &extended, now), Err(LinkError::Signature));
            prop_assert_eq!(signer.verify(&key(2), &query, now), Err(LinkError::Signature));
        }

        #[test]
        fn hostile_queries_are_refused_without_panic(expires: i64, signature in "\\PC{0,80}", now: i64) {
            let query = LinkQuery { expires, signature };
            prop_assert!(LinkSigner::new(&masters()).verify(&key(1), &query, Timestamp(now)).is_err());
        }
    }

    #[test]
    fn links_survive_a_rotation_of_the_master_key() {
        let before = masters();
        let now = Timestamp(1_000_000_000);
        let (query, _) = LinkSigner::new(&before).sign(&key(1), now);
        let after = MasterKeys::new(MasterKey::generate().unwrap(), vec![before.current().clone()]);
        assert_eq!(LinkSigner::new(&after).verify(&key(1), &query, now), Ok(()));
        assert_eq!(LinkSigner::new(&masters()).verify(&key(1), &query, now), Err(LinkError::Signature));
    }
}
