#!/usr/bin/env bash
# The OpenTelemetry clients that the tests run against Stash: Python packages and a node_modules, exactly those of the
# lock files in tests/clients, whose hashes pip and npm compare. No script of a package runs.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
HERE="$REPO/tests/clients"

# install NAME PIN COMMAND...: fills $TMP/out by the command, unless the component stands with this pin.
install() {
  local name="$1" pin="$2"
  shift 2
  is_done "$name" "$pin" && return 0
  (
    begin "$name"
    is_done "$name" "$pin" && exit 0
    say "$name: downloading and keeping about $SIZE_MB MB in $DEPS/$name"
    mkdir "$TMP/out"
    "$@" >"$TMP/log" 2>&1 || { tail -n 20 "$TMP/log" >&2; die "could not install $name"; }
    publish "$name" "$pin" "$TMP/out"
  )
}

# Into a folder for PYTHONPATH rather than a virtual environment: that needs no other package of the system's, and the
# folder can be renamed.
python_packages() {
  TMPDIR="$TMP" python3 -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-input --no-deps \
    --require-hashes --only-binary=:all: --target "$TMP/out" --requirement "$1"
}

node_packages() {
  cp "$HERE/js/package.json" "$HERE/js/package-lock.json" "$TMP/out/"
  npm ci --prefix "$TMP/out" --cache "$TMP/npm-cache" --ignore-scripts --no-audit --no-fund
}

sum() { cat "$@" | sha256sum | cut -d' ' -f1; }

# Some wheels are compiled for one version of Python.
need python3 python3
PYTHON="$(python3 -c 'import sys; print(sys.implementation.cache_tag)')"
python_client() { # python_client NAME LOCK
  SIZE_MB=65 install "$1" "$PYTHON-$(uname -m) $(sum "$2")" python_packages "$2"
}
python_client client-python "$HERE/python/requirements.txt"
python_client client-python-genai "$HERE/python/genai-openai.txt"
need npm npm
SIZE_MB=130 install client-js "npm $(sum "$HERE/js/package.json" "$HERE/js/package-lock.json")" node_packages
