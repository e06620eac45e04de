#!/usr/bin/env bash
# libtorch for the CPU, for the trainer: headers and the few shared libraries it needs, taken from the PyPI wheel.
#
# The wheel of this version is a CUDA build, but its libtorch_cpu.so refers to CUDA only through the profiler. So the CUDA
# libraries (several GB) are not fetched; small stubs with the same names and symbol versions satisfy the linker and the
# loader. A stub function returns an error code, which the profiler reads as "no CUDA here".
#
# Nothing is done where LIBTORCH (or LIBTORCH_USE_PYTORCH) names an installation of yours.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VERSION=2.13.0 # what tch 0.26 is generated for; no other version works
LAYOUT=2       # raise when this script builds a different folder from the same wheel

if [[ -n "${LIBTORCH:-}" && "$LIBTORCH" != "$DEPS/libtorch" || -n "${LIBTORCH_USE_PYTORCH:-}" ]]; then
  exit 0
fi
case "$(platform)" in
  linux-x64) SUM=60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7 ;;
  linux-arm64) SUM=092790c696a760c729fd5722835f50b9d81fd7c8f141571f3f3cf4081a8f664c ;;
esac
PIN="torch-$VERSION layout-$LAYOUT $SUM"
is_done libtorch "$PIN" && exit 0

need cc g++
need nm binutils
begin libtorch
is_done libtorch "$PIN" && exit 0
say "libtorch $VERSION (CPU): downloading 527 MB, keeping about 390 MB in $DEPS/libtorch"
WHEEL="$(fetch_wheel "torch==$VERSION" "$SUM" "$TMP/wheel")"
# The last three groups exist on 64-bit Arm only, where libtorch_cpu.so needs them.
unzip_members "$WHEEL" "$TMP/unpacked" torch/include/ torch/version.py torch/lib/libtorch_cpu.so torch/lib/libc10.so \
  torch/lib/libgomp torch/lib/libarm_compute torch/lib/libnvpl_ torch/lib/libgfortran "torch-$VERSION.dist-info/licenses/LICENSE" "torch-$VERSION.dist-info/licenses/NOTICE"
rm -rf "$TMP/wheel"

grep -q "^__version__ = '${VERSION}[+']" "$TMP/unpacked/torch/version.py" || die "the wheel is not torch $VERSION"
OUT="$TMP/out"
mkdir -p "$OUT/lib" "$OUT/licenses"
mv "$TMP/unpacked/torch/include" "$OUT/include"
mv "$TMP/unpacked/torch/lib/"* "$OUT/lib/"
find "$TMP/unpacked/torch-$VERSION.dist-info" -type f -exec mv -t "$OUT/licenses" {} +
# Read by the build script of torch-sys, which refuses a version it was not made for.
echo "$VERSION" >"$OUT/build-version"
"$REPO/infra/deps/torch-stubs.sh" "$OUT/lib"
# The symbol table is a fifth of the file and serves only debuggers.
strip --strip-unneeded "$OUT/lib/libtorch_cpu.so" 2>/dev/null || true

publish libtorch "$PIN" "$OUT"
