//! zstd before encryption: ciphertext does not compress.
//!
//! Contexts are kept per thread, since making one costs more than compressing a comment. They grow with the largest input: at
//! level 1 to about 1 MB for a frame of the usual size.

use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};

/// Level 1: at level 3 a trace is a tenth smaller and takes twice as long.
const LEVEL: i32 = 1;

/// Shorter content is left as it is: zstd's own header eats what it could save.
const COMPRESS_BYTES_MIN: usize = 64;

/// Bytes of the length that stands before compressed content.
const LENGTH_BYTES: usize = 4;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Appends the content to `out`, compressed if that saves at least 1/32 of it, and says whether it did. Compressed content is
/// preceded by its plain length (four bytes, little endian). The same content always gives the same bytes.
pub(super) fn append(plain: &[u8], out: &mut Vec<u8>) -> bool {
    if plain.len() >= COMPRESS_BYTES_MIN && append_compressed(plain, out).is_some() {
        return true;
    }
    out.extend_from_slice(plain);
    false
}

fn append_compressed(plain: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let length = u32::try_from(plain.len()).ok()?;
    let start = out.len();
    let body = start + LENGTH_BYTES;
    out.resize(body + zstd::zstd_safe::compress_bound(plain.len()), 0);
    let written = COMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Compressor::new(LEVEL).ok();
        }
        slot.as_mut()?.compress_to_buffer(plain, out.get_mut(body..)?).ok()
    });
    match written {
        Some(written) if LENGTH_BYTES + written <= plain.len() - plain.len() / 32 => {
            out[start..body].copy_from_slice(&length.to_le_bytes());
            out.truncate(body + written);
            Some(())
        }
        _ => {
            out.truncate(start);
            None
        }
    }
}

/// Why compressed content was not restored.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DecompressError {
    /// It is not what [`append`] writes.
    Damaged,
    /// It has this many bytes, more than the caller takes.
    TooLarge(usize),
}

/// Restores what [`append`] compressed. Nothing is allocated before the stated length was found to be within `bytes_max`, and
/// never more than it.
pub(super) fn decompress(payload: &[u8], bytes_max: usize) -> Result<Vec<u8>, DecompressError> {
    let (length, body) = payload.split_first_chunk::<LENGTH_BYTES>().ok_or(DecompressError::Damaged)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| DecompressError::Damaged)?;
    if length > bytes_max {
        return Err(DecompressError::TooLarge(length));
    }
    let mut plain = Vec::new();
    plain.try_reserve_exact(length).map_err(|_| DecompressError::TooLarge(length))?;
    DECOMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Decompressor::new().ok();
        }
        let decompressor = slot.as_mut().ok_or(DecompressError::Damaged)?;
        decompressor.decompress_to_buffer(body, &mut plain).map_err(|_| DecompressError::Damaged)
    })?;
    if plain.len() == length { Ok(plain) } else { Err(DecompressError::Damaged) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes that repeat, so that some of them compress and some do not.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        (prop::collection::vec(any::<u8>(), 0..200), 1_usize..40).prop_map(|(unit, times)| unit.repeat(times))
    }

    proptest! {
        #[test]
        fn content_is_restored(plain in content()) {
            let mut out = b"before".to_vec();
            let compressed = append(&plain, &mut out);
            let payload = &out[6..];
            prop_assert!(payload.len() <= plain.len());
            if compressed {
                prop_assert_eq!(decompress(payload, plain.len()), Ok(plain.clone()));
                prop_assert_eq!(decompress(payload, plain.len() - 1), Err(DecompressError::TooLarge(plain.len())));
            } else {
                prop_assert_eq!(payload, &plain[..]);
            }
        }

        #[test]
        fn a_used_context_compresses_like_a_fresh_one(first in content(), second in content()) {
            let here = |plain: &[u8]| { let mut out = Vec::new(); append(plain, &mut out); out };
            here(&first);
            let used = here(&second);
            let fresh = std::thread::scope(|scope| scope.spawn(|| here(&second)).join().unwrap());
            prop_assert_eq!(used, fresh);
        }

        #[test]
        fn hostile_bytes_are_refused_without_panic(payload in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(plain) = decompress(&payload, 1000) {
                prop_assert!(plain.len() <= 1000);
            }
        }
    }

    #[test]
    fn a_bomb_that_lies_about_its_length_is_stopped_at_that_length() {
        let mut out = Vec::new();
        assert!(append(&vec![0; 1 << 20], &mut out));
        out[..4].copy_from_slice(&10_u32.to_le_bytes());
        assert_eq!(decompress(&out, 1 << 30), Err(DecompressError::Damaged));
    }
}
