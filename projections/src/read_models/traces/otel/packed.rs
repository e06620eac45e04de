//! What is remembered of traces, as JSON under zstd.

use crate::error::ApplyError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zstd::bulk::{Compressor, Decompressor};

/// Level 1: more costs the projector more time than the smaller rows save the database.
const LEVEL: i32 = 1;

/// Bytes of a content when unpacked. Far beyond a request's bytes and what a trace of the most steps needs to be remembered.
const PLAIN_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Packs and unpacks. Making one costs more than using it, so one serves many rows.
pub(super) struct Packer {
    compressor: Compressor<'static>,
    decompressor: Decompressor<'static>,
}

impl Packer {
    pub(super) fn new() -> Result<Self, ApplyError> {
        let failed = |error: std::io::Error| ApplyError::Unavailable(error.to_string());
        Ok(Self {
            compressor: Compressor::new(LEVEL).map_err(failed)?,
            decompressor: Decompressor::new().map_err(failed)?,
        })
    }

    pub(super) fn pack(&mut self, value: &impl Serialize) -> Result<Vec<u8>, ApplyError> {
        let plain = serde_json::to_vec(value).map_err(|error| ApplyError::poison("unwritable", error))?;
        self.compressor.compress(&plain).map_err(|error| ApplyError::poison("unwritable", error))
    }

    /// None for what no version of this code packed.
    pub(super) fn open<T: DeserializeOwned>(&mut self, content: &[u8]) -> Option<T> {
        let size = zstd::zstd_safe::get_frame_content_size(content).ok()??;
        let size = usize::try_from(size).ok().filter(|size| *size <= PLAIN_BYTES_MAX)?;
        let plain = self.decompressor.decompress(content, size).ok()?;
        serde_json::from_slice(&plain).ok()
    }
}
