//! Storing a file: in one request, or in parts where it is large.
//!
//! Parts are read and hashed in order and a few are on their way at once, so that memory is bounded by [`PARTS_AT_ONCE`] and
//! the size of a part, which is [`PART_BYTES`] up to 156 GiB. An upload that fails is taken back; one whose process was killed
//! leaves parts behind, which no reader sees and a rule of the bucket removes (`docs/artifacts.md`).

use super::Bucket;
use super::error::{error, unavailable};
use crate::artifacts::folder::disk;
use crate::artifacts::{ArtifactError, ArtifactKey, Stored};
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use sha2::{Digest as _, Sha256};
use stash_domain::ids::Digest;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Bytes of a part, and of the largest file that is stored in one request.
pub(super) const PART_BYTES: u64 = 16 * 1024 * 1024;

/// Most parts of an upload: a limit of the service.
const PARTS_MAX: u64 = 10_000;

/// Largest object of the service.
const OBJECT_BYTES_MAX: u64 = 5 * 1024 * 1024 * 1024 * 1024;

/// Parts on their way at once.
const PARTS_AT_ONCE: usize = 3;

impl Bucket {
    pub(super) async fn put_file(&self, key: &ArtifactKey, from: &Path) -> Result<Stored, ArtifactError> {
        let mut source = Source::open(from).await?;
        if source.length > OBJECT_BYTES_MAX {
            return Err(ArtifactError::Full(format!("artifact {key} is larger than any object may be")));
        }
        let first = source.part().await?;
        if source.length <= PART_BYTES {
            let body = ByteStream::from(first.unwrap_or_default());
            self.client.put_object().bucket(&self.name).key(key.as_str()).body(body).send().await.map_err(error)?;
            return Ok(source.stored());
        }
        let upload = self.client.create_multipart_upload().bucket(&self.name).key(key.as_str()).send();
        let upload = upload.await.map_err(error)?;
        let id = upload.upload_id().ok_or_else(|| unavailable("an upload got no id"))?;
        let result = self.upload_parts(key, id, first, &mut source).await;
        if let Err(failure) = &result {
            let abort = self.client.abort_multipart_upload().bucket(&self.name).key(key.as_str()).upload_id(id).send();
            if let Err(source) = abort.await {
                tracing::warn!(%key, %failure, error = %error(source), "parts of a failed upload are left in the bucket");
            }
        }
        result?;
        Ok(source.stored())
    }

    async fn upload_parts(
        &self,
        key: &ArtifactKey,
        id: &str,
        first: Option<Bytes>,
        source: &mut Source,
    ) -> Result<(), ArtifactError> {
        let mut uploads = FuturesUnordered::new();
        let mut done = Vec::new();
        let mut next = first;
        let mut number = 0;
        while let Some(part) = next {
            number += 1;
            uploads.push(self.upload_part(key, id, number, part));
            if uploads.len() >= PARTS_AT_ONCE
                && let Some(part) = uploads.next().await
            {
                done.push(part?);
            }
            next = source.part().await?;
        }
        while let Some(part) = uploads.next().await {
            done.push(part?);
        }
        done.sort_unstable_by_key(|part| part.part_number);
        let parts = CompletedMultipartUpload::builder().set_parts(Some(done)).build();
        let request = self.client.complete_multipart_upload().bucket(&self.name).key(key.as_str()).upload_id(id);
        request.multipart_upload(parts).send().await.map_err(error)?;
        Ok(())
    }

    async fn upload_part(
        &self,
        key: &ArtifactKey,
        id: &str,
        number: i32,
        part: Bytes,
    ) -> Result<CompletedPart, ArtifactError> {
        let request = self.client.upload_part().bucket(&self.name).key(key.as_str()).upload_id(id).part_number(number);
        let stored = request.body(ByteStream::from(part)).send().await.map_err(error)?;
        Ok(CompletedPart::builder().part_number(number).set_e_tag(stored.e_tag).build())
    }
}

/// A file read in parts, away from the async runtime.
struct Source {
    state: Option<(File, Sha256)>,
    length: u64,
    read: u64,
    part_bytes: u64,
}

impl Source {
    async fn open(path: &Path) -> Result<Self, ArtifactError> {
        let file = tokio::fs::File::open(path).await.map_err(disk::error)?;
        let length = file.metadata().await.map_err(disk::error)?.len();
        let file = file.into_std().await;
        let part_bytes = PART_BYTES.max(length.div_ceil(PARTS_MAX));
        Ok(Self { state: Some((file, Sha256::new())), length, read: 0, part_bytes })
    }

    /// The next part; `None` at the end, which is where the file ended when it was opened.
    async fn part(&mut self) -> Result<Option<Bytes>, ArtifactError> {
        let wanted = self.part_bytes.min(self.length - self.read);
        if wanted == 0 {
            return Ok(None);
        }
        let (mut file, mut hash) = self.state.take().ok_or_else(|| unavailable("a file is read after it failed"))?;
        let reading = tokio::task::spawn_blocking(move || {
            let mut part = Vec::with_capacity(usize::try_from(wanted).unwrap_or_default());
            (&mut file).take(wanted).read_to_end(&mut part)?;
            hash.update(&part);
            Ok((part, file, hash))
        });
        let (part, file, hash) = reading.await.map_err(unavailable)?.map_err(disk::error)?;
        self.state = Some((file, hash));
        if part.len() as u64 != wanted {
            return Err(unavailable("the file became shorter while it was stored"));
        }
        self.read += wanted;
        Ok(Some(part.into()))
    }

    fn stored(self) -> Stored {
        let hash = self.state.map(|(_, hash)| hash).unwrap_or_default();
        Stored { digest: Digest(hash.finalize().into()), size: self.read }
    }
}
