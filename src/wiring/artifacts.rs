//! The artifact store of the deployment: a bucket where one is named, else a folder.

use anyhow::Context as _;
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::artifacts::{ArtifactStore, FolderStore, S3Store};
use stash_infra::config::Settings;
use stash_infra::subject_keys::SubjectKeys;
use std::sync::Arc;

/// Path under which the server serves artifacts to whoever holds a signed link.
const LINK_BASE: &str = "/artifacts";

/// Opens it; makes a folder at first start, never a bucket.
pub(super) async fn open(settings: &Settings, keys: &SubjectKeys) -> anyhow::Result<Arc<dyn ArtifactStore>> {
    if let Some(s3) = &settings.s3 {
        let store = S3Store::open(s3).await.with_context(|| {
            format!("the bucket {} cannot be used; see the settings STASH_S3_* and docs/artifacts.md", s3.bucket)
        })?;
        return Ok(Arc::new(store));
    }
    let folder = settings.data.artifacts();
    let signer = LinkSigner::new(&keys.masters());
    let store = FolderStore::open(&folder, signer, LINK_BASE)
        .await
        .with_context(|| format!("the artifact folder {} cannot be opened", folder.display()))?;
    Ok(Arc::new(store))
}
