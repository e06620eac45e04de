//! Named artifacts in a bucket: reading, removing and linking. [`super::upload`] stores them.

use super::Bucket;
use super::error::{error, if_there, unavailable};
use crate::artifacts::folder::disk;
use crate::artifacts::link::VALID_S;
use crate::artifacts::{ArtifactError, ArtifactKey, ArtifactReader, Link, Stored};
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::presigning::PresigningConfig;
use sha2::{Digest as _, Sha256};
use stash_domain::ids::Digest;
use stash_domain::time::Timestamp;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tokio::fs::{File, OpenOptions};
use tokio::io::AsyncWriteExt as _;

/// How often a download goes on after its connection broke.
const RESUMES_MAX: usize = 5;

const SECOND_US: i64 = 1_000_000;

impl Bucket {
    pub(super) async fn get_file(
        &self,
        key: &ArtifactKey,
        to: &Path,
        expected: Option<Digest>,
    ) -> Result<Stored, ArtifactError> {
        let object = self.open(key, None).await?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(to).await.map_err(disk::error)?;
        let fetched = self.fetch(key, object, &mut file).await.and_then(|stored| match expected {
            Some(digest) if digest != stored.digest => Err(ArtifactError::Damaged(format!("artifact {key}"))),
            _ => Ok(stored),
        });
        if fetched.is_err() {
            // What is wrong is told already.
            let _ = tokio::fs::remove_file(to).await;
        }
        fetched
    }

    /// Copies an object to a file. When the connection breaks, the same object is read on from there.
    async fn fetch(
        &self,
        key: &ArtifactKey,
        mut object: GetObjectOutput,
        file: &mut File,
    ) -> Result<Stored, ArtifactError> {
        let total = length(&object, key)?;
        let tag = object.e_tag.clone();
        let mut hash = Sha256::new();
        let mut size = 0_u64;
        let mut resumes = 0;
        while size < total {
            let broken = match object.body.next().await {
                Some(Ok(chunk)) if chunk.len() as u64 <= total - size => {
                    hash.update(&chunk);
                    file.write_all(&chunk).await.map_err(disk::error)?;
                    size += chunk.len() as u64;
                    continue;
                }
                Some(Ok(_)) => return Err(unavailable(format!("artifact {key} is longer than announced"))),
                Some(Err(source)) => unavailable(source),
                None => unavailable(format!("artifact {key} ended at byte {size} of {total}")),
            };
            resumes += 1;
            if resumes > RESUMES_MAX {
                return Err(broken);
            }
            tracing::debug!(%key, size, total, error = %broken, "a download goes on after a break");
            object = self.open(key, Some((size, tag.clone()))).await?;
        }
        file.flush().await.map_err(disk::error)?;
        file.sync_all().await.map_err(disk::error)?;
        Ok(Stored { digest: Digest(hash.finalize().into()), size })
    }

    /// Begins to read an object, or goes on with the same one from this byte.
    async fn open(
        &self,
        key: &ArtifactKey,
        from: Option<(u64, Option<String>)>,
    ) -> Result<GetObjectOutput, ArtifactError> {
        let mut request = self.client.get_object().bucket(&self.name).key(key.as_str());
        if let Some((first, tag)) = from {
            request = request.range(format!("bytes={first}-")).set_if_match(tag);
        }
        if_there(request.send().await)?.ok_or_else(|| ArtifactError::Missing(format!("artifact {key}")))
    }

    pub(super) async fn read_file(&self, key: &ArtifactKey) -> Result<ArtifactReader, ArtifactError> {
        let object = self.open(key, None).await?;
        Ok(ArtifactReader { size: length(&object, key)?, bytes: Box::pin(object.body.into_async_read()) })
    }

    pub(super) async fn delete_file(&self, key: &ArtifactKey) -> Result<bool, ArtifactError> {
        // A removal does not tell whether there was anything.
        let head = self.client.head_object().bucket(&self.name).key(key.as_str()).send().await;
        let there = if_there(head)?.is_some();
        if there {
            self.delete_object(key.as_str()).await?;
        }
        Ok(there)
    }

    /// Removes an object, if it is there.
    pub(super) async fn delete_object(&self, key: &str) -> Result<(), ArtifactError> {
        if_there(self.client.delete_object().bucket(&self.name).key(key).send().await).map(|_| ())
    }

    pub(super) async fn link(&self, key: &ArtifactKey, now: Timestamp) -> Result<Link, ArtifactError> {
        // Links are signed to the second.
        let seconds = now.0 / SECOND_US;
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        let valid = Duration::from_secs(u64::try_from(VALID_S).unwrap_or_default());
        let signing = PresigningConfig::builder().start_time(start).expires_in(valid).build().map_err(unavailable)?;
        let name = key.as_str().rsplit('/').next().unwrap_or_default();
        let request = self
            .client
            .get_object()
            .bucket(&self.name)
            .key(key.as_str())
            .response_content_disposition(format!("attachment; filename=\"{name}\""));
        let signed = request.presigned(signing).await.map_err(error)?;
        Ok(Link {
            url: signed.uri().to_owned(),
            expires_at: Timestamp(seconds.saturating_add(VALID_S).saturating_mul(SECOND_US)),
        })
    }
}

/// Bytes that an answer announces.
fn length(object: &GetObjectOutput, key: &ArtifactKey) -> Result<u64, ArtifactError> {
    let length = object.content_length().and_then(|length| u64::try_from(length).ok());
    length.ok_or_else(|| unavailable(format!("artifact {key} has no length")))
}
