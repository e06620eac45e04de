//! The ONNX Runtime library, loaded once, when the first scorer is opened.

use std::sync::OnceLock;

use ort::environment::Environment;

use crate::scoring::ScoreError;

/// The variable that names the library.
const VARIABLE: &str = "ORT_DYLIB_PATH";

static LOADED: OnceLock<Environment> = OnceLock::new();

/// The process's environment. A failure is not kept: the next scorer tries again.
pub(super) fn environment() -> Result<&'static Environment, ScoreError> {
    if let Some(environment) = LOADED.get() {
        return Ok(environment);
    }
    let path = std::env::var(VARIABLE).map_err(|_| ScoreError::RuntimeNotNamed)?;
    let refused = |detail: String| ScoreError::RuntimeNotLoaded { path: path.clone(), detail };
    let environment = ort::init_from(&path)
        .map_err(|e| refused(e.to_string()))?
        .with_name("stash")
        .with_telemetry(false)
        .build()
        .map_err(|e| refused(e.to_string()))?;
    Ok(LOADED.get_or_init(|| environment))
}
