//! How a subject's root is encrypted for the database.
//!
//! ```text
//! byte 0: version = 1, 1 … 12: random nonce, 13 … 44: encrypted root, 45 … 60: tag
//! ```
//!
//! AES-256-GCM-SIV under the master key. Master key, owner and subject are authenticated, so that a row moved to another subject
//! does not open.

use super::key::{KEY_BYTES, SubjectKey};
use super::master::MasterKey;
use aes_gcm_siv::aead::{AeadInOut, KeyInit};
use aes_gcm_siv::{Aes256GcmSiv, Nonce, Tag};
use stash_domain::ids::{OwnerId, SubjectId};
use zeroize::Zeroizing;

const VERSION: u8 = 1;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
const ROOT_AT: usize = 1 + NONCE_BYTES;
const TAG_AT: usize = ROOT_AT + KEY_BYTES;

/// Bytes of a wrapped root.
pub(super) const WRAPPED_BYTES: usize = TAG_AT + TAG_BYTES;

/// Random bytes that one wrapping needs.
pub(super) const WRAP_NONCE_BYTES: usize = NONCE_BYTES;

/// A root, before the subject's keys are derived from it.
pub(super) type Root = Zeroizing<[u8; KEY_BYTES]>;

/// Wraps a root under a nonce that was never used with this master key. None never happens: the cipher refuses only texts of more
/// than 64 GiB.
pub(super) fn wrap(
    master: &MasterKey,
    owner: OwnerId,
    subject: SubjectId,
    root: &Root,
    nonce: &[u8; NONCE_BYTES],
) -> Option<[u8; WRAPPED_BYTES]> {
    let mut wrapped = [0; WRAPPED_BYTES];
    wrapped[0] = VERSION;
    wrapped[1..ROOT_AT].copy_from_slice(nonce);
    wrapped[ROOT_AT..TAG_AT].copy_from_slice(root.as_slice());
    let aad = associated_data(master, owner, subject);
    let tag = cipher(master)
        .encrypt_inout_detached(&Nonce::from(*nonce), &aad, (&mut wrapped[ROOT_AT..TAG_AT]).into())
        .ok()?;
    wrapped[TAG_AT..].copy_from_slice(&tag);
    Some(wrapped)
}

/// Restores a root; none when the bytes are not what [`wrap`] made for this master key and subject.
pub(super) fn unwrap(master: &MasterKey, owner: OwnerId, subject: SubjectId, wrapped: &[u8]) -> Option<Root> {
    let wrapped: &[u8; WRAPPED_BYTES] = wrapped.try_into().ok()?;
    if wrapped[0] != VERSION {
        return None;
    }
    let nonce = Nonce::try_from(&wrapped[1..ROOT_AT]).ok()?;
    let tag = Tag::try_from(&wrapped[TAG_AT..]).ok()?;
    let mut root = Zeroizing::new([0; KEY_BYTES]);
    root.copy_from_slice(&wrapped[ROOT_AT..TAG_AT]);
    let aad = associated_data(master, owner, subject);
    cipher(master).decrypt_inout_detached(&nonce, &aad, root.as_mut_slice().into(), &tag).ok()?;
    Some(root)
}

/// The subject's key, from its wrapped root.
pub(super) fn unwrap_key(master: &MasterKey, owner: OwnerId, subject: SubjectId, wrapped: &[u8]) -> Option<SubjectKey> {
    unwrap(master, owner, subject, wrapped).map(|root| SubjectKey::from_root(owner, subject, &root))
}

fn cipher(master: &MasterKey) -> Aes256GcmSiv {
    Aes256GcmSiv::new(master.wrap_key().into())
}

fn associated_data(master: &MasterKey, owner: OwnerId, subject: SubjectId) -> [u8; 48] {
    let mut aad = [0; 48];
    aad[..16].copy_from_slice(master.id().0.as_bytes());
    aad[16..32].copy_from_slice(owner.0.as_bytes());
    aad[32..].copy_from_slice(subject.0.as_bytes());
    aad
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    proptest! {
        #[test]
        fn a_root_is_restored_only_whole_and_for_its_subject(
            root: [u8; 32], nonce: [u8; 12], owner: u128, subject: u128, other: u128, at in 0..WRAPPED_BYTES, bit in 0_u8..8,
        ) {
            let master = MasterKey::generate().unwrap();
            let (owner, subject, other) =
                (OwnerId(Uuid::from_u128(owner)), SubjectId(Uuid::from_u128(subject)), SubjectId(Uuid::from_u128(other)));
            let root = Zeroizing::new(root);
            let wrapped = wrap(&master, owner, subject, &root, &nonce).unwrap();
            prop_assert_eq!(unwrap(&master, owner, subject, &wrapped), Some(root));
            if other != subject {
                prop_assert_eq!(unwrap(&master, owner, other, &wrapped), None);
            }
            prop_assert_eq!(unwrap(&MasterKey::generate().unwrap(), owner, subject, &wrapped), None);
            let mut changed = wrapped;
            changed[at] ^= 1 << bit;
            prop_assert_eq!(unwrap(&master, owner, subject, &changed), None);
        }
    }
}
