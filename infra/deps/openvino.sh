#!/usr/bin/env bash
# The OpenVINO plugin of ONNX Runtime, with which the worker scores in bfloat16 on Intel processors that compute in it. From
# the PyPI wheel, without what drives GPUs and NPUs. Optional: without it scores are computed in 32-bit floats.
# Nothing is done where ORT_EP_OPENVINO_PATH names a library of yours, nor on other processors than x86-64, for which there
# is no such wheel.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VERSION=1.8.1
SUM=3832643158c8c187fcab6db661cde2a8c06a2b3559d95d0f2411ac0e51c5e924

if [[ -n "${ORT_EP_OPENVINO_PATH:-}" && "$ORT_EP_OPENVINO_PATH" != "$DEPS/openvino/"* ]]; then
  exit 0
fi
if [[ "$(platform)" != linux-x64 ]]; then
  say "the OpenVINO plugin is made for x86-64 only; scores are computed in 32-bit floats"
  exit 0
fi
PIN="openvino-plugin-$VERSION $SUM"
is_done openvino "$PIN" && exit 0

begin openvino
is_done openvino "$PIN" && exit 0
say "OpenVINO plugin $VERSION: downloading 53 MB, keeping 92 MB in $DEPS/openvino"
WHEEL="$(fetch_wheel "onnxruntime-ep-openvino==$VERSION" "$SUM" "$TMP/wheel")"
unzip_members "$WHEEL" "$TMP/unpacked" onnxruntime_ep_openvino/
mkdir "$TMP/out"
cd "$TMP/unpacked/onnxruntime_ep_openvino"
# The library has two more names of the same bytes; it loads those beside it by theirs.
mv libonnxruntime_providers_openvino_plugin.so libopenvino.so.* libopenvino_intel_cpu_plugin.so libopenvino_onnx_frontend.so.* \
  libopenvino_ir_frontend.so.* libtbb.so.* libtbbmalloc.so.* libhwloc.so.* libtbbbind_* third-party-programs.txt "$TMP/out/"
cd "$TMP"

publish openvino "$PIN" "$TMP/out"
