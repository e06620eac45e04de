#!/usr/bin/env bash
# Everything the build and the tests need, in one call; quick when it is all there.
#
#   install.sh                 system packages, libtorch, ONNX Runtime, a Postgres server
#   install.sh COMPONENT...    only these: system libtorch onnxruntime postgres kafka clients smollm2 duckdb openvino
#
# Components go to STASH_DEPS_DIR (default: .deps in the repository), each in a folder of its own with a stamp. A folder
# can be deleted at any time; the next run fetches it again.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

[[ $# -gt 0 ]] || set -- system libtorch onnxruntime postgres
# Asked for together, all system packages are installed (or named) at once.
FOR=()
[[ " $* " != *" kafka "* ]] || FOR=(kafka)
for component in "$@"; do
  case "$component" in
    system) "$HERE/system.sh" "${FOR[@]}" ;;
    libtorch | onnxruntime | postgres | clients | smollm2 | duckdb | openvino) "$HERE/$component.sh" ;;
    kafka) "$HERE/../kafka/resolve.sh" ;;
    *) echo "deps: error: no component named $component (system libtorch onnxruntime postgres kafka clients smollm2 duckdb openvino)" >&2; exit 2 ;;
  esac
done
