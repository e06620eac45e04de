#!/usr/bin/env bash
# Trains and scores on a CUDA device and prints the figures, in a few minutes:
#
#   LIBTORCH=/path/to/libtorch bench/cuda.sh [OUT.json]
#
# Needs a machine with an NVIDIA GPU and libtorch 2.13.0 built for CUDA (the set-up's own is for the CPU): the unpacked archive, or
# LIBTORCH_USE_PYTORCH=1 where python3 has torch 2.13.0. Takes a model of Qwen3-0.6B's shape with random weights, so nothing is
# downloaded. What is written: device, weights, pairs/s and tokens/s of full training in bf16 and of adapters in bf16, the same on
# this machine's CPU, the greatest difference of the losses of both devices in fp32, and peak memory.
#
# Ends with 3, and says why, where there is no CUDA device, and with 4 where libtorch has no CUDA.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

OUT="${1:-bench-cuda.json}"
die() { echo "cuda.sh: $2" >&2; exit "$1"; }

command -v nvidia-smi >/dev/null && nvidia-smi -L | grep -q '^GPU ' || die 3 "this machine has no CUDA device (nvidia-smi finds none); nothing was measured"
if [[ -z "${LIBTORCH_USE_PYTORCH:-}" ]]; then
  [[ -n "${LIBTORCH:-}" ]] || die 4 "set LIBTORCH to a libtorch 2.13.0 that was built for CUDA, or LIBTORCH_USE_PYTORCH=1"
  compgen -G "$LIBTORCH/lib/libtorch_cuda*.so" >/dev/null || die 4 "$LIBTORCH has no libtorch_cuda.so: it is built for the CPU"
fi
echo "cuda.sh: building stash-trainer and its example" >&2
cargo build --release -p stash-trainer --bins --examples
target="${CARGO_TARGET_DIR:-target}"
exec "$target/release/examples/cuda" "$target/release/stash-trainer" "$OUT"
