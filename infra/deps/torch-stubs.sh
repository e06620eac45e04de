#!/usr/bin/env bash
# torch-stubs.sh LIB_DIR: makes the libraries that libtorch_cpu.so names but does not need on a CPU.
#
# For each CUDA library among its needs: one function per undefined symbol, under the symbol version that libtorch_cpu.so
# asks for. And an empty libtorch.so, since the linker is told -ltorch and the real one pulls in libtorch_cuda.so.
set -euo pipefail

LIB="$1"
SYMBOLS="$(nm -D --undefined-only "$LIB/libtorch_cpu.so")"
NEEDED="$(LC_ALL=C readelf -d "$LIB/libtorch_cpu.so" | sed -n 's/.*(NEEDED).*\[\(libcu[^]]*\)\]/\1/p')"
WORK="$(mktemp -d "$LIB/.stubs.XXXXXX")"
trap 'rm -rf "$WORK"' EXIT

for library in $NEEDED; do
  # 999 is cudaErrorUnknown and CUPTI_ERROR_UNKNOWN. Functions that return text are only called with a code from these.
  awk -v version="@$library" '
    index($2, version) { sub(/@.*/, "", $2); text = $2 == "cudaGetErrorString"
      print (text ? "const char *" : "int ") $2 "(void) { return " (text ? "\"CUDA is not part of this build\"" : "999") "; }" }
  ' <<<"$SYMBOLS" >"$WORK/$library.c"
  echo "$library { *; };" >"$WORK/$library.map"
  cc -shared -fPIC -O1 -o "$LIB/$library" -Wl,-soname,"$library" -Wl,--version-script,"$WORK/$library.map" "$WORK/$library.c"
done
echo 'extern int stash_empty_library;' >"$WORK/empty.c"
cc -shared -fPIC -o "$LIB/libtorch.so" -Wl,-soname,libtorch.so "$WORK/empty.c"
