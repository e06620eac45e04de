//! The key of one subject: what it seals, and where the nonces and step ids of its content come from.

use hkdf::Hkdf;
use sha2::Sha256;
use stash_domain::ids::{OwnerId, SubjectId};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Bytes of a subject's root, of a master key and of everything derived from them.
pub const KEY_BYTES: usize = 32;

/// Bytes that tell two keys of the same subject apart.
pub const KEY_TAG_BYTES: usize = 8;

/// The key of one subject of one owner. Cheap to clone; wiped from memory with its last copy.
#[derive(Clone)]
pub struct SubjectKey(Arc<Derived>);

/// The keys that HKDF-SHA256 (RFC 5869) makes of the root, each under a label of its own. The root itself is not kept.
struct Derived {
    owner: OwnerId,
    subject: SubjectId,
    content: Zeroizing<[u8; KEY_BYTES]>,
    nonce: Zeroizing<[u8; KEY_BYTES]>,
    step_id: Zeroizing<[u8; KEY_BYTES]>,
    tag: [u8; KEY_TAG_BYTES],
}

impl SubjectKey {
    /// The key with this root. Only the key store and tests make keys: the root must be random and must never be used twice.
    pub fn from_root(owner: OwnerId, subject: SubjectId, root: &Zeroizing<[u8; KEY_BYTES]>) -> Self {
        let hkdf = Hkdf::<Sha256>::new(None, root.as_slice());
        let mut derived = Derived {
            owner,
            subject,
            content: Zeroizing::new([0; KEY_BYTES]),
            nonce: Zeroizing::new([0; KEY_BYTES]),
            step_id: Zeroizing::new([0; KEY_BYTES]),
            tag: [0; KEY_TAG_BYTES],
        };
        expand(&hkdf, "stash subject 1 content", derived.content.as_mut_slice());
        expand(&hkdf, "stash subject 1 nonce", derived.nonce.as_mut_slice());
        expand(&hkdf, "stash subject 1 step id", derived.step_id.as_mut_slice());
        expand(&hkdf, "stash subject 1 tag", &mut derived.tag);
        Self(Arc::new(derived))
    }

    /// Whose subject it is.
    pub fn owner(&self) -> OwnerId {
        self.0.owner
    }

    /// The subject.
    pub fn subject(&self) -> SubjectId {
        self.0.subject
    }

    /// The key under which [`stash_domain::trace::step_id::StepIds`] derives the ids of the subject's steps.
    pub fn step_id_key(&self) -> [u8; KEY_BYTES] {
        *self.0.step_id
    }

    /// Stands in the clear before every ciphertext of this key. A subject that was shredded and made anew has another tag, so
    /// what was sealed before is seen to be erased and not taken for damaged.
    pub fn tag(&self) -> [u8; KEY_TAG_BYTES] {
        self.0.tag
    }

    /// The key that encrypts.
    pub(crate) fn content_key(&self) -> &[u8; KEY_BYTES] {
        &self.0.content
    }

    /// The key that makes nonces.
    pub(crate) fn nonce_key(&self) -> &[u8; KEY_BYTES] {
        &self.0.nonce
    }
}

impl std::fmt::Debug for SubjectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SubjectKey({} of {})", self.0.subject, self.0.owner)
    }
}

/// Fills `out`. HKDF refuses only outputs over 255 × 32 bytes, and ours have at most 32.
pub(super) fn expand(hkdf: &Hkdf<Sha256>, label: &str, out: &mut [u8]) {
    let expanded = hkdf.expand(label.as_bytes(), out);
    debug_assert!(expanded.is_ok());
}
