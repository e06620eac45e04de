//! Fetching one file, from where an earlier try stopped.

use super::listing::Remote;
use super::{Hub, Source};
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use reqwest::StatusCode;
use reqwest::header::RANGE;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Tries in a row that bring nothing new.
const TRIES_MAX: u32 = 5;

/// Pause after the first of them; each further one doubles it.
const PAUSE: Duration = Duration::from_millis(500);

/// Bytes read at a time when a file is checked.
const CHECK_BYTES: usize = 1 << 20;

/// How a try ended.
enum Tried {
    Whole,
    /// The connection broke; the text says how.
    Broken(String),
}

/// Fetches a file into a folder, unless it is there whole. The bar counts its bytes.
///
/// # Errors
/// When the hub refuses, the connection breaks again and again, or the file is another than the hub said.
pub(crate) async fn fetch(
    hub: &Hub,
    source: &Source,
    commit: &str,
    file: &Remote,
    folder: &Path,
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    let path = folder.join(&file.name);
    let begun = bar.position();
    // A small file may be of an earlier commit: only a checksum tells.
    if file.sha256.is_some() && is_right(&path, file).await? {
        bar.set_position(begun + file.bytes);
        return Ok(());
    }
    // Of another commit, its beginning would be of no use.
    let part = folder.join(format!("{}.{}.part", file.name, commit));
    let mut fruitless = 0;
    loop {
        let before = length(&part).await.unwrap_or_default();
        match piece(hub, source, commit, file, &part, &|bytes| bar.set_position(begun + bytes)).await? {
            Tried::Whole => break,
            Tried::Broken(how) => {
                let gained = length(&part).await.unwrap_or_default() > before;
                fruitless = if gained { 0 } else { fruitless + 1 };
                if fruitless >= TRIES_MAX {
                    bail!("{} cannot be fetched: {how}; the same command goes on where it stopped", file.name);
                }
                if fruitless > 0 {
                    tokio::time::sleep(PAUSE * 2_u32.pow(fruitless - 1)).await;
                }
            }
        }
    }
    if !is_right(&part, file).await? {
        fs::remove_file(&part).await.with_context(|| format!("{} cannot be removed", part.display()))?;
        bail!("{} is not what the hub said it is (another SHA-256 or length); it was removed", file.name);
    }
    fs::rename(&part, &path).await.with_context(|| format!("{} cannot be renamed", part.display()))
}

/// One request for what is still missing of a file.
async fn piece(
    hub: &Hub,
    source: &Source,
    commit: &str,
    remote: &Remote,
    part: &Path,
    progress: &(impl Fn(u64) + Sync),
) -> anyhow::Result<Tried> {
    let mut have = length(part).await.unwrap_or_default();
    if have == remote.bytes && have > 0 {
        return Ok(Tried::Whole);
    }
    let mut request = hub.get(&format!("{}/resolve/{commit}/{}", source.repository, remote.name));
    if have > 0 && have < remote.bytes {
        request = request.header(RANGE, format!("bytes={have}-"));
    }
    let mut response = match request.send().await {
        Ok(response) => response,
        Err(error) => return Ok(Tried::Broken(error.without_url().to_string())),
    };
    match response.status() {
        StatusCode::PARTIAL_CONTENT => {}
        // The whole file, whatever was asked for.
        StatusCode::OK => have = 0,
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            return Ok(Tried::Broken(format!("status {status}")));
        }
        status => return Err(hub.refused(source, status)),
    }
    let mut file = open(part, have).await?;
    loop {
        progress(have);
        match response.chunk().await {
            Ok(Some(chunk)) => {
                have += chunk.len() as u64;
                if have > remote.bytes {
                    bail!("{} is longer than the hub said", remote.name);
                }
                file.write_all(&chunk).await.with_context(|| format!("{} cannot be written", part.display()))?;
            }
            Ok(None) => break,
            Err(error) => {
                file.flush().await.with_context(|| format!("{} cannot be written", part.display()))?;
                return Ok(Tried::Broken(error.without_url().to_string()));
            }
        }
    }
    file.sync_all().await.with_context(|| format!("{} cannot be written", part.display()))?;
    let short = || Tried::Broken(format!("it ended at byte {have} of {}", remote.bytes));
    Ok(if have == remote.bytes { Tried::Whole } else { short() })
}

/// Opens what is there of a file to write on after this many bytes.
async fn open(part: &Path, have: u64) -> anyhow::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(part).await;
    let file = file.with_context(|| format!("{} cannot be written", part.display()))?;
    file.set_len(have).await.with_context(|| format!("{} cannot be written", part.display()))?;
    Ok(file)
}

async fn length(path: &Path) -> Option<u64> {
    fs::metadata(path).await.ok().map(|metadata| metadata.len())
}

/// Whether a file has the length and, where it is known, the SHA-256 that the hub said.
async fn is_right(path: &Path, remote: &Remote) -> anyhow::Result<bool> {
    let unreadable = |path: PathBuf| move || format!("{} cannot be read", path.display());
    if length(path).await != Some(remote.bytes) {
        return Ok(false);
    }
    let Some(expected) = &remote.sha256 else { return Ok(true) };
    let mut file = File::open(path).await.with_context(unreadable(path.to_owned()))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; CHECK_BYTES];
    loop {
        let read = file.read(&mut buffer).await.with_context(unreadable(path.to_owned()))?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
    }
    let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(found.eq_ignore_ascii_case(expected))
}
