//! Master keys: they wrap the keys of subjects, and sign links. They are never in the database.

use super::key::KEY_BYTES;
use hkdf::Hkdf;
use rand::TryRng as _;
use rand::rngs::SysRng;
use sha2::Sha256;
use std::sync::Arc;
use uuid::Uuid;
use zeroize::Zeroizing;

/// Master keys one file may hold: the current one and those whose rows still wait to be rewrapped.
pub const MASTER_KEYS_MAX: usize = 16;

/// Names a master key without telling it: derived from the key, so that a mistyped key is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MasterKeyId(pub Uuid);

impl std::fmt::Display for MasterKeyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// One master key. Cheap to clone; wiped from memory with its last copy.
#[derive(Clone)]
pub struct MasterKey(Arc<Parts>);

struct Parts {
    id: MasterKeyId,
    bytes: Zeroizing<[u8; KEY_BYTES]>,
    wrap: Zeroizing<[u8; KEY_BYTES]>,
    link: Zeroizing<[u8; KEY_BYTES]>,
}

impl MasterKey {
    /// A new random key.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn generate() -> std::io::Result<Self> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        SysRng.try_fill_bytes(bytes.as_mut_slice()).map_err(std::io::Error::other)?;
        Ok(Self::from_bytes(bytes))
    }

    /// The key with these bytes.
    pub fn from_bytes(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        let hkdf = Hkdf::<Sha256>::new(None, bytes.as_slice());
        let mut id = [0; 16];
        let mut wrap = Zeroizing::new([0; KEY_BYTES]);
        let mut link = Zeroizing::new([0; KEY_BYTES]);
        super::key::expand(&hkdf, "stash master 1 id", &mut id);
        super::key::expand(&hkdf, "stash master 1 wrap", wrap.as_mut_slice());
        super::key::expand(&hkdf, "stash master 1 link", link.as_mut_slice());
        let id = MasterKeyId(uuid::Builder::from_custom_bytes(id).into_uuid());
        Self(Arc::new(Parts { id, bytes, wrap, link }))
    }

    /// Its id.
    pub fn id(&self) -> MasterKeyId {
        self.0.id
    }

    /// The key itself, for its file alone.
    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0.bytes
    }

    /// The key that encrypts subject keys.
    pub(super) fn wrap_key(&self) -> &[u8; KEY_BYTES] {
        &self.0.wrap
    }

    /// The key that signs links.
    pub(crate) fn link_key(&self) -> &[u8; KEY_BYTES] {
        &self.0.link
    }
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MasterKey({})", self.0.id)
    }
}

/// The master keys in use: one that wraps what is new, and older ones whose rows were not all rewrapped yet.
#[derive(Clone, Debug)]
pub struct MasterKeys {
    current: MasterKey,
    older: Vec<MasterKey>,
}

impl MasterKeys {
    /// These keys.
    pub fn new(current: MasterKey, older: Vec<MasterKey>) -> Self {
        Self { current, older }
    }

    /// The one that wraps what is new.
    pub fn current(&self) -> &MasterKey {
        &self.current
    }

    /// The others.
    pub fn older(&self) -> &[MasterKey] {
        &self.older
    }

    /// All, the current one first.
    pub fn iter(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.current).chain(&self.older)
    }

    /// The one with this id.
    pub fn find(&self, id: MasterKeyId) -> Option<&MasterKey> {
        self.iter().find(|key| key.id() == id)
    }
}
