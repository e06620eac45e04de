#!/usr/bin/env bash
# Writes THIRD_PARTY.md: each crate that our binaries are built from, by licence, as cargo-deny reads the tree.
#
#   notices.sh           rewrites the file
#   notices.sh --check   fails when the file is not what would be written
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

DENY="$(infra/deps/cargo-deny.sh)"
OUT="$(mktemp)"
trap 'rm -f "$OUT"' EXIT
"$DENY" --log-level error list --format json --layout crate | python3 -c '
import collections, json, sys

crates = collections.defaultdict(list)
for name, facts in json.load(sys.stdin).items():
    # "NAME VERSION SOURCE"; our own packages have a path for a source.
    parts = name.split(" ")
    if len(parts) > 2 and not parts[2].startswith("registry"):
        continue
    crates[", ".join(sorted(facts["licenses"]))].append(f"{parts[0]} {parts[1]}")

print("# Third-party software\n")
print("The Rust crates that Stash is built from, by licence; where several are named, the crate offers or combines")
print("them. Written by `make notices`. Each crate carries its licence text in its source on crates.io.\n")
print("What the set-up downloads beside them is named in NOTICE.")
for licenses in sorted(crates, key=lambda key: (-len(crates[key]), key)):
    print(f"\n## {licenses}\n")
    for crate in sorted(crates[licenses]):
        print(f"- {crate}")
' >"$OUT"
if [[ "${1:-}" == --check ]]; then
  cmp -s "$OUT" THIRD_PARTY.md || { echo "THIRD_PARTY.md is out of date; run: make notices" >&2; exit 1; }
else
  cat "$OUT" >THIRD_PARTY.md
fi
