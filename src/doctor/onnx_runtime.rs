//! ONNX Runtime's library is there.

use super::Finding;
use stash_infra::config::Settings;

const CHECK: &str = "onnx runtime";

/// Looks for the library.
pub(super) fn check(settings: &Settings) -> Finding {
    let cure = "`make run` fetches it and sets ORT_DYLIB_PATH; without it, nothing can be scored";
    match &settings.compute.onnx_runtime {
        Some(library) if library.is_file() => Finding::ok(CHECK, library.display().to_string()),
        Some(library) => {
            Finding::broken(CHECK, format!("ORT_DYLIB_PATH names {}, which is no file", library.display()), cure)
        }
        None => Finding::warning(CHECK, "ORT_DYLIB_PATH is not set", cure),
    }
}
