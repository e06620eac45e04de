#!/usr/bin/env bash
# ONNX Runtime (CPU), which scores traces in the worker: one shared library from the PyPI wheel, loaded at run time.
# Nothing is done where ORT_DYLIB_PATH names a library of yours.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VERSION=1.32.0 # any 1.24 or later works: the api-24 feature of the ort crate

if [[ -n "${ORT_DYLIB_PATH:-}" && "$ORT_DYLIB_PATH" != "$DEPS/onnxruntime/"* ]]; then
  exit 0
fi
case "$(platform)" in
  linux-x64) SUM=5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d ;;
  linux-arm64) SUM=2303372a85299b6757b0e11e1cbf13e410ddf7e10c37f4b37e99d1c90e7daf7c ;;
esac
PIN="onnxruntime-$VERSION $SUM"
is_done onnxruntime "$PIN" && exit 0

begin onnxruntime
is_done onnxruntime "$PIN" && exit 0
say "ONNX Runtime $VERSION: downloading 28 MB, keeping 34 MB in $DEPS/onnxruntime"
WHEEL="$(fetch_wheel "onnxruntime==$VERSION" "$SUM" "$TMP/wheel")"
unzip_members "$WHEEL" "$TMP/unpacked" "onnxruntime/capi/libonnxruntime.so.$VERSION" onnxruntime/LICENSE \
  onnxruntime/ThirdPartyNotices.txt
mkdir "$TMP/out"
mv "$TMP/unpacked/onnxruntime/capi/libonnxruntime.so.$VERSION" "$TMP/unpacked/onnxruntime/LICENSE" \
  "$TMP/unpacked/onnxruntime/ThirdPartyNotices.txt" "$TMP/out/"
ln -s "libonnxruntime.so.$VERSION" "$TMP/out/libonnxruntime.so"

publish onnxruntime "$PIN" "$TMP/out"
