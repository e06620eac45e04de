//! ONNX Runtime's library is there.

use super::Finding;
use stash_workers::scoring::{Precision, lacks};

const CHECK: &str = "onnx runtime";

/// Looks for the library.
pub(super) fn check() -> Finding {
    let cure = "`make run` fetches it; or name it in ORT_DYLIB_PATH; without it, nothing can be scored";
    match stash_workers::scoring::runtime_library() {
        Some(library) if library.is_file() => Finding::ok(CHECK, format!("{}; {}", library.display(), arithmetic())),
        Some(library) => {
            Finding::broken(CHECK, format!("ORT_DYLIB_PATH names {}, which is no file", library.display()), cure)
        }
        None => Finding::warning(CHECK, "not found", cure),
    }
}

/// The fastest arithmetic that scores can be computed in.
fn arithmetic() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    match lacks(Precision::Bf16, threads) {
        None => "scores in bf16".to_owned(),
        Some(missing) => format!("scores in fp32 only: {missing}"),
    }
}
