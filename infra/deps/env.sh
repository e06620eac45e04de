#!/usr/bin/env bash
# Prints the variables that point at what infra/deps/install.sh put in place, for a shell to evaluate:
#
#   eval "$(infra/deps/env.sh)"
#
# A variable that is already set to something of yours is left as it is, and so is not printed.
# libtorch needs no LD_LIBRARY_PATH: the trainer is linked with the path inside.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

offer() { # offer NAME VALUE: prints the export when VALUE exists and NAME is free
  if [[ -z "${!1:-}" && -e "$2" ]]; then
    printf 'export %s=%q\n' "$1" "$2"
  fi
}

printf 'export STASH_DEPS_DIR=%q\n' "$DEPS"
[[ -n "${LIBTORCH_USE_PYTORCH:-}" ]] || offer LIBTORCH "$DEPS/libtorch"
offer ORT_DYLIB_PATH "$DEPS/onnxruntime/libonnxruntime.so"
offer ORT_EP_OPENVINO_PATH "$DEPS/openvino/libonnxruntime_providers_openvino_plugin.so"
offer DUCKDB_LIB_DIR "$DEPS/duckdb"
# The fetched server, only where it is the one to use: with a server of the system's beside it, nothing is forced.
if [[ "$("$REPO/infra/deps/postgres.sh" --find)" == "$DEPS/postgres/bin" ]]; then
  offer STASH_POSTGRES_BIN "$(readlink -f "$DEPS/postgres/bin")"
fi
offer STASH_TEST_KAFKA_LIBS "$DEPS/kafka/lib"
offer STASH_TEST_SMOLLM2 "$DEPS/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
