#!/usr/bin/env bash
# A federation on this machine: a SuperLink with TLS and node authentication, and its SuperNodes.
# Runs until it is interrupted, and ends all of them then.
#
#   ./deploy.sh FOLDER [NODES]     keys, homes and logs go to FOLDER, which must not exist
#
# The SuperLink listens on PORT (9443), the SuperNodes' apps on NODE_PORT (9500) and those above it.
set -euo pipefail

folder=${1:?usage: ./deploy.sh FOLDER [NODES]}
nodes=${2:-10}
port=${PORT:-9443}
node_port=${NODE_PORT:-9500}

python keys.py "$folder" --nodes "$nodes" --address "127.0.0.1:$port"
folder=$(cd "$folder" && pwd)
export FLWR_HOME=$folder/flwr

# Each command below gets a process group, for itself and the processes it makes.
set -m
pids=()
# stop PID...: twenty seconds for an orderly end of these groups, then the other kind.
stop() {
  local groups=("${@/#/-}") left
  kill -- "${groups[@]}" 2>/dev/null || true
  for ((left = 100; left > 0; --left)); do
    kill -0 -- "${groups[@]}" 2>/dev/null || return 0
    sleep 0.2
  done
  kill -KILL -- "${groups[@]}" 2>/dev/null || true
}
finish() {
  trap - EXIT INT TERM
  # The SuperLink last: SuperNodes say goodbye to it.
  if ((${#pids[@]} > 1)); then stop "${pids[@]:1}"; fi
  if ((${#pids[@]})); then stop "${pids[0]}"; fi
  wait
}
trap finish EXIT
trap 'exit 130' INT TERM

# Apps run with the packages that are installed here, boba from its clone; nothing is fetched.
flower-superlink --host 127.0.0.1 --port "$port" \
  --ssl-ca-certfile "$folder/ca.crt" --ssl-certfile "$folder/server.crt" \
  --ssl-keyfile "$folder/server.key" \
  --enable-supernode-auth --disable-runtime-dependency-installation \
  >"$folder/superlink.log" 2>&1 &
pids+=($!)

# tries COMMAND...: until it succeeds, for about a minute at least.
tries() {
  local left
  for ((left = 60; left > 0; --left)); do
    if "$@" >/dev/null 2>&1; then return; fi
    kill -0 "${pids[0]}" 2>/dev/null || break
    sleep 1
  done
  echo "deploy.sh: '$*' does not succeed; see $folder/superlink.log" >&2
  exit 1
}

all_online() {
  local online
  online=$(flwr supernode list deployment --format json | grep -o '"status": *"online"' | wc -l)
  ((online == nodes))
}

tries flwr supernode list deployment
for ((i = 0; i < nodes; ++i)); do
  flwr supernode register "$folder/node-$i.pub" deployment >/dev/null
done

# A home for each, as on machines of their own.
for ((i = 0; i < nodes; ++i)); do
  FLWR_HOME=$folder/home-$i flower-supernode \
    --superlink "127.0.0.1:$port" --root-certificates "$folder/ca.crt" \
    --auth-supernode-private-key "$folder/node-$i" \
    --node-config "partition-id=$i num-partitions=$nodes" \
    --port $((node_port + i)) >"$folder/node-$i.log" 2>&1 &
  pids+=($!)
  echo $! >"$folder/node-$i.pid"
done
tries all_online
echo "the federation is up: export FLWR_HOME=$FLWR_HOME; flwr run . deployment --stream"
wait
