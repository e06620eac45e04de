#!/usr/bin/env bash
# cargo-deny, which `make check` runs on deny.toml and infra/deps/notices.sh reads licences with. Prints its path.
#
#   cargo-deny.sh             the one on PATH, else the installed one; says how to get it when there is none (exit 1)
#   cargo-deny.sh --install   builds it into STASH_DEPS_DIR when there is none (some minutes)
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VERSION=0.20.2
PIN="cargo-deny-$VERSION"

if command -v cargo-deny; then
  exit 0
fi
if ! is_done cargo-deny "$PIN"; then
  [[ "${1:-}" == --install ]] || die "cargo-deny is not installed; run: infra/deps/cargo-deny.sh --install (builds for some minutes)"
  begin cargo-deny
  say "cargo-deny $VERSION: building for about three minutes, keeping 9 MB in $DEPS/cargo-deny"
  # A build folder of its own: the project's may be in use, and holds nothing that helps here.
  env -u CARGO_TARGET_DIR cargo install --quiet --locked --root "$TMP/out" --target-dir "$TMP/target" "cargo-deny@$VERSION" >&2
  publish cargo-deny "$PIN" "$TMP/out"
fi
printf '%s\n' "$DEPS/cargo-deny/bin/cargo-deny"
