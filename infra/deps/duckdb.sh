#!/usr/bin/env bash
# DuckDB for the SQL endpoint, from the npm package of its Node bindings, which carries the plain shared library.
# Optional: nothing links it yet, so infra/deps/install.sh fetches it only when asked by name.
# Nothing is done where DUCKDB_LIB_DIR names a library of yours.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VERSION=1.5.6-r.1 # the release that the duckdb crate 1.10506 was generated from

if [[ -n "${DUCKDB_LIB_DIR:-}" && "$DUCKDB_LIB_DIR" != "$DEPS/duckdb" ]]; then
  exit 0
fi
PLATFORM="$(platform)"
case "$PLATFORM" in
  linux-x64) SUM=1b9f82478539bb9a1d1df44bd103121a12ae52142c07158dc52b97d2ec1d69ff ;;
  linux-arm64) SUM=3a45a6305b3235a781ed9de25aa795a3862acd042782d1f864e1bdb656de212b ;;
esac
PIN="duckdb-$VERSION $SUM"
is_done duckdb "$PIN" && exit 0

begin duckdb
is_done duckdb "$PIN" && exit 0
say "DuckDB $VERSION: downloading 24 MB, keeping 71 MB in $DEPS/duckdb"
fetch_npm "@duckdb/node-bindings-$PLATFORM@$VERSION" "$SUM" "$TMP/npm"
mkdir "$TMP/out"
mv "$TMP/npm/package/libduckdb.so" "$TMP/npm/package/LICENSE" "$TMP/out/"

publish duckdb "$PIN" "$TMP/out"
