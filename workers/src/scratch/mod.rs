//! The worker's folder: a directory per attempt, `<job>-<attempt>`, which goes with the attempt.
//!
//! Two things leave one behind: a worker that is killed, and an attempt whose next one may go on from it but is made elsewhere, or
//! never. It holds texts of traces, which must not outlive their deletion here. So directories of jobs that are over are removed.

use crate::context::{Worker, WorkerError};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Most directories that are looked at at once; the next look finds the rest.
const LOOK_MAX: usize = 256;

/// Removes what is left of jobs that are over. Returns how many directories it removed.
///
/// # Errors
/// Those of the database; the next look finds what is left.
pub async fn sweep(worker: &Worker) -> Result<usize, WorkerError> {
    let found = directories(&worker.scratch);
    if found.is_empty() {
        return Ok(0);
    }
    let jobs: Vec<Uuid> = found.iter().map(|(job, _)| *job).collect();
    let open: Vec<Uuid> = sqlx::query_scalar(include_str!("open.sql")).bind(jobs).fetch_all(&worker.pool).await?;
    let over: Vec<PathBuf> =
        found.into_iter().filter(|(job, _)| !open.contains(job)).map(|(_, directory)| directory).collect();
    let removing = tokio::task::spawn_blocking(move || {
        over.iter().filter(|directory| std::fs::remove_dir_all(directory).is_ok()).count()
    });
    let removed = removing.await.unwrap_or(0);
    if removed > 0 {
        tracing::info!(removed, "directories of jobs that are over were left behind and are removed");
    }
    Ok(removed)
}

/// Directories of attempts, with their jobs. Whatever else lies there is not ours.
fn directories(scratch: &Path) -> Vec<(Uuid, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(scratch) else { return Vec::new() };
    let attempt = |path: PathBuf| {
        let (job, attempt) = path.file_name()?.to_str()?.rsplit_once('-')?;
        attempt.parse::<u32>().ok()?;
        Some((Uuid::parse_str(job).ok()?, path))
    };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .filter_map(attempt)
        .take(LOOK_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_of_attempts_are_looked_at() {
        let scratch = tempfile::tempdir().unwrap();
        let job = Uuid::from_u128(7);
        for name in [format!("{job}-3"), "notes".to_owned(), format!("{job}"), format!("{job}-x")] {
            std::fs::create_dir(scratch.path().join(name)).unwrap();
        }
        std::fs::write(scratch.path().join(format!("{job}-4")), "a file").unwrap();
        assert_eq!(directories(scratch.path()), [(job, scratch.path().join(format!("{job}-3")))]);
        assert_eq!(directories(&scratch.path().join("nowhere")), []);
    }
}
