#!/usr/bin/env bash
# What the dashboard costs, against a cluster inside the process: tools/bench-dashboard.sh [FLAGS]
#
#   FLAGS    for web/tests/dashboard_load.mjs: --viewers 200, --seconds 20, --rounds 3
#   LOAD     the cluster, as for `makeway run --generate`; else 5,000 nodes with 30 pods each
#
# Filling the cluster takes some minutes; then the load goes on for about five more.
# Needs Node; with Chromium and the packages of web/ the page is measured, too. What is missing is
# reported. docs/performance.md has figures and what they mean.
set -euo pipefail
cd "$(dirname "$0")/.."

load=${LOAD:-nodes=5000,cpus=52,gpus=0,pods=144000,load=137,daemons=25,gangs=0,priorities=4}
command -v node >/dev/null || { echo "bench-dashboard: Node is missing (nodejs)" >&2; exit 1; }
makeway=${MAKEWAY_BINARY:-$PWD/build/makeway}
if [[ ! -x $makeway ]]; then tools/build.sh release makeway >/dev/null; fi
flags=()
CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
export CHROMIUM
if [[ -n $CHROMIUM && -d web/node_modules/playwright-core ]]; then
  flags+=(--page)
else
  echo "bench-dashboard: without the page: Chromium or web/node_modules is missing" >&2
fi

output=$(mktemp)
trap 'kill "$run" 2>/dev/null || true; rm -f "$output"' EXIT
"$makeway" run --embedded --generate "$load" --speed 2 --listen :0 --for 2h >"$output" 2>&1 &
run=$!
# The page is served at once; the cluster is filled before it is ready.
for _ in $(seq 900); do
  address=$(grep -o 'http://127.0.0.1:[0-9]*/' "$output" || true)
  if [[ -n $address ]] && curl -sf "${address}readyz" >/dev/null; then break; fi
  kill -0 "$run" 2>/dev/null || { cat "$output" >&2; exit 1; }
  sleep 1
done
node web/tests/dashboard_load.mjs "$address" "$run" "${flags[@]}" "$@"
