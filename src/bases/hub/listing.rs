//! The files of a repository's commit.

use super::{Hub, Source};
use crate::bases::is_wanted;
use anyhow::{Context as _, bail};
use serde::Deserialize;

/// Files of a repository that are looked at.
const FILES_MAX: usize = 10_000;

/// Bytes of the listing.
const LISTING_BYTES_MAX: usize = 16 << 20;

/// Bytes of a base: 32 billion parameters in 16 bits.
const BASE_BYTES_MAX: u64 = 64 << 30;

/// What is to be fetched.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    /// The commit.
    pub(crate) commit: String,
    /// Its files that a base needs.
    pub(crate) files: Vec<Remote>,
}

/// A file of a repository.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    /// Its name.
    pub(crate) name: String,
    /// Its length.
    pub(crate) bytes: u64,
    /// Its SHA-256 in hexadecimal, where the hub knows it.
    pub(crate) sha256: Option<String>,
}

impl Listing {
    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

#[derive(Deserialize)]
struct Answer {
    sha: String,
    #[serde(default)]
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    #[serde(default)]
    size: Option<u64>,
    #[serde(default)]
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    sha256: String,
    size: u64,
}

/// Asks the hub for the files of this state of a repository.
///
/// # Errors
/// When the hub cannot be reached or refuses, or the repository holds no model in safetensors.
pub(crate) async fn list(hub: &Hub, source: &Source) -> anyhow::Result<Listing> {
    let path = format!("api/models/{}/revision/{}?blobs=true", source.repository, source.revision);
    let response = hub.get(&path).send().await.with_context(|| format!("{} cannot be reached", hub.endpoint))?;
    if !response.status().is_success() {
        return Err(hub.refused(source, response.status()));
    }
    let answer: Answer = serde_json::from_slice(&body(response).await?).context("the hub's list of files is none")?;
    if answer.sha.is_empty() || !answer.sha.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        bail!("the hub names no commit");
    }
    let files: Vec<Remote> =
        answer.siblings.into_iter().take(FILES_MAX).filter(|file| is_wanted(&file.rfilename)).map(remote).collect();
    let listing = Listing { commit: answer.sha, files };
    for needed in ["config.json", "tokenizer.json"] {
        if !listing.files.iter().any(|file| file.name == needed) {
            bail!("{} has no {needed}, so it is no base that can be used here", source.repository);
        }
    }
    if !listing.files.iter().any(|file| file.name.ends_with(".safetensors")) {
        bail!("{} has no weights in safetensors; if it has a GGUF file, fetch that and use --gguf", source.repository);
    }
    if listing.bytes() > BASE_BYTES_MAX {
        bail!("{} has {} bytes, at most {BASE_BYTES_MAX} are supported", source.repository, listing.bytes());
    }
    Ok(listing)
}

fn remote(file: Sibling) -> Remote {
    match file.lfs {
        Some(lfs) => Remote { name: file.rfilename, bytes: lfs.size, sha256: Some(lfs.sha256) },
        None => Remote { name: file.rfilename, bytes: file.size.unwrap_or_default(), sha256: None },
    }
}

/// A small body.
async fn body(mut response: reqwest::Response) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.context("the hub's answer broke off")? {
        if bytes.len() + chunk.len() > LISTING_BYTES_MAX {
            bail!("the hub's list of files has over {LISTING_BYTES_MAX} bytes");
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
