#!/usr/bin/env bash
# Fetches the Kafka broker (Apache Kafka 4.4 and what it needs at run time) with Maven: the jars that pom.xml names and
# jars.sha256 pins, into STASH_DEPS_DIR/kafka/lib. To change the version, edit pom.xml, copy the new jars anywhere and
# write their sums to jars.sha256.
#
# Nothing is done where STASH_TEST_KAFKA_LIBS names a folder of jars of yours.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=infra/deps/lib.sh
source "$HERE/../deps/lib.sh"

if [[ -n "${STASH_TEST_KAFKA_LIBS:-}" && "$STASH_TEST_KAFKA_LIBS" != "$DEPS/kafka/lib" ]]; then
  exit 0
fi
PIN="kafka-4.4.0 $(sha256sum "$HERE/jars.sha256" "$HERE/pom.xml" | cut -d' ' -f1 | tr '\n' ' ')"
PIN="${PIN% }"
is_done kafka "$PIN" && exit 0

"$REPO/infra/deps/system.sh" kafka
begin kafka
is_done kafka "$PIN" && exit 0
say "Apache Kafka 4.4.0: downloading and keeping 43 MB in $DEPS/kafka"
# Maven's local repository is left behind in the temporary folder, except where the user has one: then it is a cache.
LOCAL=()
[[ -d "${HOME:-/nonexistent}/.m2/repository" ]] || LOCAL=(-Dmaven.repo.local="$TMP/m2")
mvn --quiet --batch-mode --no-transfer-progress "${LOCAL[@]}" --file "$HERE/pom.xml" dependency:copy-dependencies \
  -DincludeScope=runtime -DoutputDirectory="$TMP/out/lib" >"$TMP/log" 2>&1 || { tail -n 20 "$TMP/log" >&2; die "Maven could not fetch Kafka"; }
(cd "$TMP/out/lib" && sha256sum --quiet --strict --check "$HERE/jars.sha256") || die "a jar differs from its pinned checksum"
FETCHED=("$TMP/out/lib"/*)
[[ "${#FETCHED[@]}" -eq "$(wc -l <"$HERE/jars.sha256")" ]] || die "Maven fetched jars that are not pinned"

publish kafka "$PIN" "$TMP/out"
