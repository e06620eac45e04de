//! ONNX Runtime's library is there.

use super::Finding;

const CHECK: &str = "onnx runtime";

/// Looks for the library.
pub(super) fn check() -> Finding {
    let cure = "`make run` fetches it; or name it in ORT_DYLIB_PATH; without it, nothing can be scored";
    match stash_workers::scoring::runtime_library() {
        Some(library) if library.is_file() => Finding::ok(CHECK, library.display().to_string()),
        Some(library) => {
            Finding::broken(CHECK, format!("ORT_DYLIB_PATH names {}, which is no file", library.display()), cure)
        }
        None => Finding::warning(CHECK, "not found", cure),
    }
}
