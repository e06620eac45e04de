# shellcheck shell=bash
# What start.sh and stop.sh share: the layout of a folder of brokers, and which processes are its own.
#
#   DIR/.stash-kafka        marker and settings: a folder without it is never touched
#   DIR/bootstrap           the brokers' addresses, for clients
#   DIR/node-N/             node.properties, data/, log (the broker's output), pid

MARKER=.stash-kafka

fail() { printf 'kafka: error: %s\n' "$*" >&2; exit 1; }

# node_pid DIR N: prints the node's process id when it runs. A pid file that outlived its process, or whose number was
# given to another, does not count: the command line must name this node's own file.
node_pid() {
  local pid
  { read -r pid <"$1/node-$2/pid"; } 2>/dev/null || return 1
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "$1/node-$2/node.properties" || return 1
  printf '%s\n' "$pid"
}

# shellcheck disable=SC2034 # set for the scripts that source this file
# load_marker DIR: sets BROKERS, PORTS (for clients), CONTROLLER_PORTS, CLUSTER and DIRECTORY_IDS as they were when the
# folder was made.
load_marker() {
  local key value
  while IFS='=' read -r key value; do
    case "$key" in
      brokers) BROKERS="$value" ;;
      ports) read -ra PORTS <<<"$value" ;;
      controller_ports) read -ra CONTROLLER_PORTS <<<"$value" ;;
      cluster) CLUSTER="$value" ;;
      directory_ids) read -ra DIRECTORY_IDS <<<"$value" ;;
    esac
  done <"$1/$MARKER"
}
