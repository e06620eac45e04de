//! Sealing: how content of a subject is encrypted, wherever it is kept.
//!
//! ```text
//! byte 0      1       2 … 9     10 … 21   22 …                          last 16
//! version   flags    key tag     nonce    ciphertext                       tag
//!   = 1     1: zstd                       of the content, or of
//!                                         (plain length, zstd frame)
//! ```
//!
//! AES-256-GCM-SIV (RFC 8452) under the subject's content key. What holds:
//! - version, flags, key tag, owner, subject and purpose are authenticated: a ciphertext opens only where it was sealed;
//! - the nonce is an HMAC-SHA256 of all that is authenticated and of what is encrypted, under a key of the subject, so the same
//!   content sealed again for the same place gives the same bytes, and a retried import finds its earlier blobs. What this tells
//!   a reader without the key: that two values of one subject and purpose are equal, and how long they are when compressed;
//! - content that was sealed under an earlier key of the subject has another key tag and is [`Opened::Redacted`], not damaged;
//! - opening allocates no more than the caller's limit, whatever the bytes say.

mod compress;
mod purpose;
#[cfg(test)]
mod tests;

pub use purpose::Purpose;

use crate::subject_keys::{KEY_TAG_BYTES, SubjectKey};
use aes_gcm_siv::aead::{AeadInOut, KeyInit};
use aes_gcm_siv::{Aes256GcmSiv, Nonce, Tag};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use stash_domain::sealed::{Opened, Sealed};

const VERSION: u8 = 1;
const FLAG_ZSTD: u8 = 1;
const NONCE_BYTES: usize = 12;
const AEAD_TAG_BYTES: usize = 16;
/// Version, flags, key tag.
const PREFIX_BYTES: usize = 2 + KEY_TAG_BYTES;
const HEADER_BYTES: usize = PREFIX_BYTES + NONCE_BYTES;

/// Bytes by which a sealed value is longer than its content, if that does not compress.
pub const OVERHEAD_BYTES: usize = HEADER_BYTES + AEAD_TAG_BYTES;

/// Plain bytes of one sealed value: far above anything we seal (the largest is a frame), and within a 32-bit length.
pub const PLAIN_BYTES_MAX: usize = 1 << 30;

/// Why bytes could not be sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The bytes were changed, cut, or belong to another subject or field.
    #[error("sealed content is damaged: {0}")]
    Damaged(&'static str),
    /// A newer Stash wrote it.
    #[error("sealed content has version {0}, which this version of Stash does not know")]
    Version(u8),
    /// Content over the limit.
    #[error("content of {size} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// Its plain bytes.
        size: usize,
        /// The limit.
        limit: usize,
    },
}

/// Seals content.
///
/// # Errors
/// [`SealError::TooLarge`] over [`PLAIN_BYTES_MAX`].
pub fn seal(key: &SubjectKey, purpose: Purpose, plain: &[u8]) -> Result<Sealed, SealError> {
    let mut out = Vec::new();
    seal_into(key, purpose, plain, &mut out)?;
    // The buffer was made for content that does not compress.
    out.shrink_to_fit();
    Ok(Sealed(out))
}

/// Seals content and appends the sealed bytes to `out`, which is unchanged after an error.
///
/// # Errors
/// [`SealError::TooLarge`] over [`PLAIN_BYTES_MAX`].
pub fn seal_into(key: &SubjectKey, purpose: Purpose, plain: &[u8], out: &mut Vec<u8>) -> Result<(), SealError> {
    let too_large = SealError::TooLarge { size: plain.len(), limit: PLAIN_BYTES_MAX };
    if plain.len() > PLAIN_BYTES_MAX {
        return Err(too_large);
    }
    let start = out.len();
    out.reserve(OVERHEAD_BYTES + plain.len());
    out.extend_from_slice(&[VERSION, 0]);
    out.extend_from_slice(&key.tag());
    out.extend_from_slice(&[0; NONCE_BYTES]);
    let body = out.len();
    if compress::append(plain, out) {
        out[start + 1] = FLAG_ZSTD;
    }
    let aad = associated_data(&out[start..start + PREFIX_BYTES], key, purpose);
    let nonce = nonce(key, &aad, &out[body..]);
    out[start + PREFIX_BYTES..body].copy_from_slice(&nonce);
    match cipher(key).encrypt_inout_detached(&nonce, &aad, (&mut out[body..]).into()) {
        Ok(tag) => out.extend_from_slice(&tag),
        Err(_) => {
            out.truncate(start);
            return Err(too_large);
        }
    }
    Ok(())
}

/// Opens what [`seal`] made for the same subject and purpose. No key, or a later key of the same subject, means that the content
/// was erased.
///
/// # Errors
/// [`SealError::TooLarge`] when the content has more than `plain_bytes_max` bytes; [`SealError::Damaged`] and
/// [`SealError::Version`].
pub fn open(
    key: Option<&SubjectKey>,
    purpose: Purpose,
    sealed: &Sealed,
    plain_bytes_max: usize,
) -> Result<Opened<Vec<u8>>, SealError> {
    open_bytes(key, purpose, &sealed.0, plain_bytes_max)
}

/// [`open`] on bytes that stand in a larger buffer.
///
/// # Errors
/// As [`open`].
pub fn open_bytes(
    key: Option<&SubjectKey>,
    purpose: Purpose,
    sealed: &[u8],
    plain_bytes_max: usize,
) -> Result<Opened<Vec<u8>>, SealError> {
    let Some(key) = key else { return Ok(Opened::Redacted) };
    if sealed.len() < OVERHEAD_BYTES {
        return Err(SealError::Damaged("it is shorter than an empty value"));
    }
    let (prefix, rest) = sealed.split_at(PREFIX_BYTES);
    let (nonce, rest) = rest.split_at(NONCE_BYTES);
    let (ciphertext, tag) = rest.split_at(rest.len() - AEAD_TAG_BYTES);
    if prefix[0] != VERSION {
        return Err(SealError::Version(prefix[0]));
    }
    if prefix[1] & !FLAG_ZSTD != 0 {
        return Err(SealError::Damaged("unknown flags"));
    }
    if prefix[2..] != key.tag() {
        return Ok(Opened::Redacted);
    }
    let compressed = prefix[1] & FLAG_ZSTD != 0;
    if !compressed && ciphertext.len() > plain_bytes_max {
        return Err(SealError::TooLarge { size: ciphertext.len(), limit: plain_bytes_max });
    }
    let aad = associated_data(prefix, key, purpose);
    let (Ok(nonce), Ok(tag)) = (Nonce::try_from(nonce), Tag::try_from(tag)) else {
        return Err(SealError::Damaged("its header is cut"));
    };
    let mut payload = ciphertext.to_vec();
    cipher(key)
        .decrypt_inout_detached(&nonce, &aad, payload.as_mut_slice().into(), &tag)
        .map_err(|_| SealError::Damaged("it was changed, or belongs to another subject or field"))?;
    if !compressed {
        return Ok(Opened::Clear(payload));
    }
    match compress::decompress(&payload, plain_bytes_max) {
        Ok(plain) => Ok(Opened::Clear(plain)),
        Err(compress::DecompressError::TooLarge(size)) => Err(SealError::TooLarge { size, limit: plain_bytes_max }),
        Err(compress::DecompressError::Damaged) => Err(SealError::Damaged("its compressed content cannot be read")),
    }
}

fn cipher(key: &SubjectKey) -> Aes256GcmSiv {
    Aes256GcmSiv::new(key.content_key().into())
}

/// What is authenticated beside the content. Every part but the last has a fixed length, and the last says its own.
fn associated_data(prefix: &[u8], key: &SubjectKey, purpose: Purpose) -> Vec<u8> {
    let name = purpose.name().as_bytes();
    let mut aad = Vec::with_capacity(PREFIX_BYTES + 16 + 16 + 1 + name.len());
    aad.extend_from_slice(prefix);
    aad.extend_from_slice(key.owner().0.as_bytes());
    aad.extend_from_slice(key.subject().0.as_bytes());
    // A purpose has at most 255 bytes.
    aad.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    aad.extend_from_slice(name);
    aad
}

fn nonce(key: &SubjectKey, aad: &[u8], payload: &[u8]) -> Nonce {
    let mut nonce = Nonce::default();
    // HMAC takes keys of any length.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.nonce_key()) {
        mac.update(aad);
        mac.update(payload);
        nonce.copy_from_slice(&mac.finalize().into_bytes()[..NONCE_BYTES]);
    }
    nonce
}
