//! The artifact store of the deployment.

use anyhow::Context as _;
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::artifacts::{ArtifactStore, FolderStore};
use stash_infra::config::Settings;
use stash_infra::subject_keys::SubjectKeys;
use std::sync::Arc;

/// Path under which the server serves artifacts to whoever holds a signed link.
const LINK_BASE: &str = "/artifacts";

/// Opens it; makes its folder at first start.
pub(super) async fn open(settings: &Settings, keys: &SubjectKeys) -> anyhow::Result<Arc<dyn ArtifactStore>> {
    let folder = settings.data.artifacts();
    let signer = LinkSigner::new(&keys.masters());
    let store = FolderStore::open(&folder, signer, LINK_BASE)
        .await
        .with_context(|| format!("the artifact folder {} cannot be opened", folder.display()))?;
    Ok(Arc::new(store))
}
