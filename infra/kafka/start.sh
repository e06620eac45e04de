#!/usr/bin/env bash
# Starts a local Kafka (KRaft, no ZooKeeper) on 127.0.0.1, of one node or three, and returns when it answers. Prints the
# addresses for clients (`bootstrap.servers`); they stand in DIR/bootstrap too. Started again on the same folder, it
# starts only the nodes that do not run, on the same ports and data.
#
#   start.sh [--brokers 1|3] [--dir DIR] [--port PORT] [--owner PID]
#
#   --brokers  nodes (default 1). Three replicate each topic thrice and want two copies before they acknowledge.
#   --dir      folder for data and logs (default: data/kafka in the repository). Must be new, empty, or made by this script
#   --port     first port (default 9092): nodes listen on PORT, PORT+1, PORT+2, their controllers on the ports after
#              those. 0 picks free ports, which the folder then keeps.
#   --owner    stops the nodes when the process PID is gone, so that a killed test leaves nothing behind
#
# One broker does not wait for the disk before it acknowledges: it survives kill -9, not a power cut.
# Java options: STASH_KAFKA_JAVA_OPTS (default: a heap of 256 MB for one node, 160 MB each for three).
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=infra/kafka/lib.sh
source "$HERE/lib.sh"

READY_DEADLINE_S=90
BROKERS="" DIR="$HERE/../../data/kafka" PORT="" OWNER=""
while [[ $# -gt 0 ]]; do
  [[ $# -ge 2 ]] || fail "$1 needs a value"
  case "$1" in
    --brokers) BROKERS="$2" ;;
    --dir) DIR="$2" ;;
    --port) PORT="$2" ;;
    --owner) OWNER="$2" ;;
    *) fail "unknown option $1" ;;
  esac
  shift 2
done
[[ "$BROKERS" =~ ^(1|3|)$ ]] || fail "--brokers is 1 or 3"
[[ "$PORT" =~ ^[0-9]*$ ]] || fail "--port is a number"

LIBS="${STASH_TEST_KAFKA_LIBS:-${STASH_DEPS_DIR:-$(cd "$HERE/../.." && pwd)/.deps}/kafka/lib}"
[[ -e "$LIBS" ]] || fail "no Kafka in $LIBS; run: infra/kafka/resolve.sh"
command -v java >/dev/null || fail "no java; run: infra/deps/system.sh kafka"

# A folder is ours when it carries the marker; in another nothing is written, unless it is empty.
mkdir -p "$DIR"
DIR="$(cd "$DIR" && pwd -P)"
if [[ ! -e "$DIR/$MARKER" && -n "$(ls -A --ignore=.lock --ignore="$MARKER.new" "$DIR")" ]]; then
  fail "$DIR is not empty and was not made by this script"
fi
exec 9>"$DIR/.lock"
flock 9
WANTED_BROKERS="$BROKERS"
if [[ -e "$DIR/$MARKER" ]]; then
  load_marker "$DIR"
  [[ -z "$WANTED_BROKERS" || "$WANTED_BROKERS" == "$BROKERS" ]] || fail "$DIR holds $BROKERS broker(s), not $WANTED_BROKERS"
  [[ "${PORT:-0}" == 0 || "$PORT" == "${PORTS[0]}" ]] || fail "$DIR was made for port ${PORTS[0]}, not $PORT"
else
  BROKERS="${BROKERS:-1}"
  python3 "$HERE/plan.py" "$BROKERS" "${PORT:-9092}" >"$DIR/$MARKER.new"
  mv "$DIR/$MARKER.new" "$DIR/$MARKER"
  load_marker "$DIR"
fi

HEAP=256
[[ "$BROKERS" -eq 1 ]] || HEAP=160
# The serial collector needs least memory, and a broker this small gains nothing from the others.
JAVA=(java -Xms64m "-Xmx${HEAP}m" -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError -Xshare:auto)
read -ra EXTRA <<<"${STASH_KAFKA_JAVA_OPTS:-}"
JAVA+=("${EXTRA[@]}" "-Dlog4j2.configurationFile=file:$HERE/log4j2.properties" -cp "$LIBS/*")

BOOTSTRAP="" QUORUM="" CONTROLLERS=""
for ((i = 0; i < BROKERS; i++)); do
  BOOTSTRAP+="${BOOTSTRAP:+,}127.0.0.1:${PORTS[i]}"
  QUORUM+="${QUORUM:+,}127.0.0.1:${CONTROLLER_PORTS[i]}"
  CONTROLLERS+="${CONTROLLERS:+,}$((i + 1))@127.0.0.1:${CONTROLLER_PORTS[i]}:${DIRECTORY_IDS[i]}"
done
REPLICAS="$BROKERS" MIN_IN_SYNC=$((BROKERS == 1 ? 1 : 2))

write_properties() { # write_properties N: small and always the same, so it is written at every start
  local node="$DIR/node-$1" i=$(($1 - 1))
  mkdir -p "$node"
  {
    echo "node.id=$1"
    echo "listeners=PLAINTEXT://127.0.0.1:${PORTS[i]},CONTROLLER://127.0.0.1:${CONTROLLER_PORTS[i]}"
    echo "controller.quorum.bootstrap.servers=$QUORUM"
    echo "log.dirs=$node/data"
    echo "default.replication.factor=$REPLICAS"
    echo "min.insync.replicas=$MIN_IN_SYNC"
    echo "offsets.topic.replication.factor=$REPLICAS"
    echo "transaction.state.log.replication.factor=$REPLICAS"
    echo "transaction.state.log.min.isr=$MIN_IN_SYNC"
    echo "share.coordinator.state.topic.replication.factor=$REPLICAS"
    echo "share.coordinator.state.topic.min.isr=$MIN_IN_SYNC"
    cat "$HERE/node.properties"
  } >"$node/node.properties"
}

# A node whose data folder has no meta.properties was never formatted, or its formatting was killed: begin again.
format() { # format N
  local node="$DIR/node-$1" how=(--standalone)
  [[ ! -e "$node/data/meta.properties" ]] || return 0
  rm -rf "$node/data"
  [[ "$BROKERS" -eq 1 ]] || how=(--initial-controllers "$CONTROLLERS")
  "${JAVA[@]}" kafka.tools.StorageTool format --cluster-id "$CLUSTER" --config "$node/node.properties" "${how[@]}" \
    >"$node/format.log" 2>&1 || { cat "$node/format.log" >&2; fail "could not format node $1"; }
}

launch() { # launch N: own session, so that Ctrl-C in the terminal does not reach it; no descriptor of ours stays open
  local node="$DIR/node-$1"
  setsid "${JAVA[@]}" kafka.Kafka "$node/node.properties" </dev/null >>"$node/log" 2>&1 9>&- &
  echo $! >"$node/pid"
}

STARTED=()
JOBS=()
for ((n = 1; n <= BROKERS; n++)); do
  node_pid "$DIR" "$n" >/dev/null && continue
  write_properties "$n"
  STARTED+=("$n")
  format "$n" &
  JOBS+=($!)
done
for job in "${JOBS[@]}"; do wait "$job" || fail "formatting failed"; done
for n in "${STARTED[@]}"; do launch "$n"; done

# Ready means: each broker, asked for the cluster's metadata, names all of them and a controller.
PIDS=()
for ((n = 1; n <= BROKERS; n++)); do
  PIDS+=("$(cat "$DIR/node-$n/pid")")
done
if ! python3 "$HERE/ready.py" "$READY_DEADLINE_S" "$BOOTSTRAP" "${PIDS[@]}"; then
  for n in "${STARTED[@]}"; do
    printf -- '--- node %s\n' "$n" >&2
    tail -n 8 "$DIR/node-$n/log" | cut -c1-200 >&2
  done
  "$HERE/stop.sh" --dir "$DIR" --kill >/dev/null 2>&1 9>&- || true
  fail "Kafka did not come up"
fi

if [[ -n "$OWNER" ]]; then
  setsid bash -c 'tail --pid="$1" -f /dev/null; exec "$2" --dir "$3" --kill' owner "$OWNER" "$HERE/stop.sh" "$DIR" \
    </dev/null >/dev/null 2>&1 9>&- &
fi
printf '%s\n' "$BOOTSTRAP" >"$DIR/bootstrap"
printf '%s\n' "$BOOTSTRAP"
