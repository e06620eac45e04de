#!/usr/bin/env bash
# Stops the nodes that start.sh started in a folder, and returns when they are gone. The data stays.
#
#   stop.sh [--dir DIR] [--node N] [--kill]
#
#   --node     only this node (1, 2 or 3)
#   --kill     kill -9 at once; without it a node has 20 seconds to end by itself
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=infra/kafka/lib.sh
source "$HERE/lib.sh"

GRACE_S=20
DIR="$HERE/../../data/kafka" NODE="" SIGNAL=TERM
while [[ $# -gt 0 ]]; do
  case "$1" in
    --dir) DIR="${2:?--dir needs a value}"; shift ;;
    --node) NODE="${2:?--node needs a value}"; shift ;;
    --kill) SIGNAL=KILL ;;
    *) fail "unknown option $1" ;;
  esac
  shift
done
[[ -e "$DIR/$MARKER" ]] || fail "$DIR was not made by start.sh"
DIR="$(cd "$DIR" && pwd -P)"
load_marker "$DIR"
[[ "$NODE" =~ ^[1-3]?$ && "${NODE:-1}" -le "$BROKERS" ]] || fail "there is no node $NODE"

NODES=("$NODE")
[[ -n "$NODE" ]] || mapfile -t NODES < <(seq 1 "$BROKERS")
PIDS=()
for n in "${NODES[@]}"; do
  if pid="$(node_pid "$DIR" "$n")"; then PIDS+=("$pid"); fi
done
signal() { kill "-$1" "${PIDS[@]}" 2>/dev/null || true; }
# Gone, or dead with its last thread and only not yet reaped: ports and files are free in both cases.
gone() {
  local pid state threads
  for pid in "${PIDS[@]}"; do
    state="$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null || true)"
    threads=("/proc/$pid/task/"*)
    [[ -z "$state" || ("$state" == Z && ${#threads[@]} -le 1) ]] || return 1
  done
}
wait_gone() {
  local tick
  for ((tick = 0; tick < GRACE_S * 20; tick++)); do
    gone && return 0
    sleep 0.05
  done
  return 1
}

[[ ${#PIDS[@]} -eq 0 ]] || signal "$SIGNAL"
if ! wait_gone; then
  signal KILL
  wait_gone || fail "a node of $DIR does not end"
fi
for n in "${NODES[@]}"; do rm -f "$DIR/node-$n/pid"; done
