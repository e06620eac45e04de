//! The ONNX Runtime library, loaded once, when the first scorer is opened.

use std::path::PathBuf;
use std::sync::OnceLock;

use ort::environment::Environment;
use stash_infra::postgres::embedded::Search;

use crate::scoring::ScoreError;

/// The variable that names the library.
const VARIABLE: &str = "ORT_DYLIB_PATH";

/// The library in a folder of fetched dependencies.
const FETCHED: &str = "onnxruntime/libonnxruntime.so";

static LOADED: OnceLock<Environment> = OnceLock::new();

/// The process's environment. A failure is not kept: the next scorer tries again.
pub(super) fn environment() -> Result<&'static Environment, ScoreError> {
    if let Some(environment) = LOADED.get() {
        return Ok(environment);
    }
    let path = library().ok_or(ScoreError::RuntimeNotNamed)?.display().to_string();
    let refused = |detail: String| ScoreError::RuntimeNotLoaded { path: path.clone(), detail };
    let environment = ort::init_from(&path)
        .map_err(|e| refused(e.to_string()))?
        .with_name("stash")
        .with_telemetry(false)
        .build()
        .map_err(|e| refused(e.to_string()))?;
    Ok(LOADED.get_or_init(|| environment))
}

/// The library: the one that the variable names, else the one that the dependency set-up fetched; none if there is neither.
pub fn library() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return Some(PathBuf::from(named));
    }
    // The same folders in which a fetched Postgres is looked for.
    Search::from_environment().deps.into_iter().map(|folder| folder.join(FETCHED)).find(|path| path.is_file())
}
