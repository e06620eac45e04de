//! Which arithmetic this machine can score in.
//!
//! ONNX Runtime's own CPU kernels have no bfloat16. Its OpenVINO plugin has, several times as fast as 32-bit floats on
//! processors that compute in it; on others it would convert back and forth. The plugin is optional.
//!
//! ONNX Runtime's own kernels multiply 8-bit integers, about twice as fast as floats where the processor has instructions for it. That is
//! less exact, so it is never chosen unasked. Without those instructions sums of two products are cut at 16 bits.

use stash_model::manifest::Precision;

use super::runtime;
use crate::scoring::ScoreError;

/// Fewest threads for bfloat16: some of OpenVINO's fused kernels deal their work out to halves of the threads, and stop the
/// process with a division by zero when it has but one (seen in OpenVINO 2026.4).
const BF16_THREADS_MIN: usize = 2;

/// The arithmetic to score a model in: what was asked for; else that of the model's statistics, if it can be had here; else
/// the fastest that can.
///
/// # Errors
/// [`ScoreError::Precision`] when what was asked for cannot be had.
pub(super) fn choose(
    asked: Option<Precision>,
    of_model: Option<Precision>,
    threads: usize,
) -> Result<Precision, ScoreError> {
    if let Some(asked) = asked {
        return match lacks(asked, threads) {
            Some(detail) => Err(ScoreError::Precision { name: asked.name(), detail }),
            None => Ok(asked),
        };
    }
    let wanted = of_model.unwrap_or(Precision::Bf16);
    match lacks(wanted, threads) {
        Some(detail) => {
            tracing::debug!(wanted = wanted.name(), detail, "scoring in fp32");
            Ok(Precision::Fp32)
        }
        None => Ok(wanted),
    }
}

/// What this machine lacks to score in a precision; none if it can.
pub fn lacks(precision: Precision, threads: usize) -> Option<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match precision {
        Precision::Fp32 => None,
        Precision::Int8 => (!computes_in_int8()).then(|| "the processor has no instructions for 8-bit integers".to_owned()),
        Precision::Bf16 if !computes_in_bf16() => Some("the processor does not compute in bfloat16".to_owned()),
        Precision::Bf16 if threads.min(cores) < BF16_THREADS_MIN => {
            Some(format!("it takes {BF16_THREADS_MIN} threads on as many cores"))
        }
        Precision::Bf16 => runtime::plugin().is_none().then(|| {
            "the OpenVINO plugin of ONNX Runtime is not there; `infra/deps/install.sh openvino` fetches it, or name it in \
             ORT_EP_OPENVINO_PATH"
                .to_owned()
        }),
    }
}

/// Whether the processor has instructions for bfloat16.
fn computes_in_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx512bf16")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Whether the processor has instructions that multiply 8-bit integers and add in 32 bits.
fn computes_in_int8() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx512vnni") || std::arch::is_x86_feature_detected!("avxvnni")
    }
    #[cfg(target_arch = "aarch64")]
    {
        std::arch::is_aarch64_feature_detected!("dotprod")
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        false
    }
}
