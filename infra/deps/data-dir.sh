#!/usr/bin/env bash
# Prints where `make run` keeps its data unless told otherwise: `data` in the clone. For root in a clone that root alone
# can enter it is a folder below /var/lib, because the embedded Postgres runs as another user and must get there.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ "$(id -u)" -eq 0 ]] && ! open_to_others "$REPO"; then
  echo "$PUBLIC/data"
else
  echo data
fi
