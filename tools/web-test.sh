#!/usr/bin/env bash
# The pages that makeway writes, opened in a headless Chromium: tools/web-test.sh [PICTURES]
#
# Makes reports and plans of small, large and hostile clusters, and looks at each of them in both
# themes and two widths (web/tests/pages.mjs). Then the dashboard of runs: with a journal, with
# queues, sessions, planes and a token (dashboard.mjs), and with hostile names (hostile.mjs).
# PICTURES: a folder for screenshots. `make e2e` runs it last. Without Chromium, Node or their
# packages it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "web-test: skipped: $1" >&2
  exit 0
}

install_packages() {
  local missing=()
  command -v chromium >/dev/null || missing+=(chromium)
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
  if [[ ${#missing[@]} -eq 0 ]]; then return; fi
  if [[ $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
    skip "missing: ${missing[*]}; install these Debian packages"
  fi
  echo "web-test: installing ${missing[*]}" >&2
  timeout 120 apt-get update -q >/dev/null 2>&1 || true # What is known already may do.
  env DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -q -y --no-install-recommends \
    "${missing[@]}" >/dev/null 2>&1 || skip "${missing[*]} cannot be installed"
}

# A cluster of so many nodes with four pods each, and pods that ask for room.
cluster() {
  local nodes=$1 asks=$2
  awk -v nodes="$nodes" -v asks="$asks" '
    function pod(name, node, priority, cpu) {
      printf "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: %s}\n", name
      printf "spec: {%spriority: %d, ", (node == "" ? "" : "nodeName: " node ", "), priority
      printf "containers: [{name: c, resources: {requests: {cpu: %dm, memory: 1Gi}}}]}\n", cpu
    }
    BEGIN {
      for (n = 1; n <= nodes; ++n) {
        printf "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-%04d}\n", n
        printf "status: {allocatable: {cpu: \"8\", memory: 32Gi, pods: \"110\"}}\n"
        for (p = 1; p <= 4; ++p) {
          name = sprintf("web-%04d-%d", n, p)
          pod(name, sprintf("node-%04d", n), (n * 7 + p * 3) % 5 * 100, 1900)
        }
      }
      for (a = 1; a <= asks; ++a) pod(sprintf("urgent-%02d", a), "", 1000, 1000 + a % 4 * 900)
      pod("giant", "", 1000, 64000)
    }'
}

install_packages
export CHROMIUM=${CHROMIUM:-$(command -v chromium)}
timeout 60 "$CHROMIUM" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
  --dump-dom about:blank >/dev/null 2>&1 || skip "$CHROMIUM does not start on this machine"
tools/web.sh check || { echo "web-test: FAILED" >&2; exit 1; }
if [[ ! -f web/node_modules/.package-lock.json ]]; then skip "the packages of web/ are missing"; fi
makeway=${MAKEWAY_BINARY:-$PWD/build/makeway}
if [[ ! -x $makeway ]]; then tools/build.sh release makeway >/dev/null; fi

pages=$(mktemp -d)
run=""
end() {
  if [[ -n $run ]]; then kill "$run" 2>/dev/null || true; fi
  rm -rf "$pages"
}
trap end EXIT
cluster 3 2 | "$makeway" plan -f - -o html >"$pages/plan-3.html"
cluster 3000 40 | "$makeway" plan -f - -o html >"$pages/plan-3000.html"
"$makeway" simulate --generate nodes=3,pods=200,load=250,queues=3,gangs=10 --report \
  "$pages/report-3.html" --preset makeway --preset kube-1.37 >/dev/null
"$makeway" simulate --generate nodes=3000,pods=3000,load=200 --judge 100 --until 2h \
  --report "$pages/report-3000.html" >/dev/null
# No loader lets such names in. Should one ever come through, they are drawn as text.
hostile='\\u003c/script\\u003e\\u003cimg src=x onerror=window.hostile=1\\u003e\\u202e'
sed "s|web-000|$hostile&|g; s|node-000|$hostile&|g" "$pages/plan-3.html" \
  >"$pages/plan-hostile.html"
sed "s|task-|$hostile&|g; s|node-0|$hostile&|g; s|team-|$hostile&|g" "$pages/report-3.html" \
  >"$pages/report-hostile.html"
arguments=("$pages")
if [[ -n ${1:-} ]]; then
  mkdir -p "$1"
  arguments+=(--pictures "$(realpath "$1")")
fi
node web/tests/pages.mjs "${arguments[@]}"

# Starts a run with the given flags; its address is in $address.
start_run() {
  : >"$pages/run.txt" # Or the address of the run before is read.
  "$makeway" run --embedded --listen :0 --for 20m "$@" >"$pages/run.txt" 2>&1 &
  run=$!
  address=""
  for _ in $(seq 600); do
    address=$(grep -o 'http://127.0.0.1:[0-9]*/' "$pages/run.txt" || true)
    if [[ -n $address ]]; then return; fi
    if ! kill -0 "$run" 2>/dev/null; then break; fi
    sleep 0.1
  done
  echo "web-test: FAILED: makeway run gave no address: $(tail -n 3 "$pages/run.txt")" >&2
  return 1
}
end_run() {
  kill "$run"
  wait "$run" || true
  run=""
}

start_run --generate nodes=3 --journal "$pages/run.journal"
node web/tests/dashboard.mjs "$address" --journal "${arguments[@]:1}"
end_run
echo "0123456789abcdef" >"$pages/token"
all_kinds=queues=3,sessions=20,replicas=20,planes=2
start_run --generate "nodes=300,$all_kinds" --token-file "$pages/token"
node web/tests/dashboard.mjs "$address" --all-kinds --token 0123456789abcdef "${arguments[@]:1}"
end_run
start_run --generate "nodes=12,$all_kinds" --journal "$pages/hostile.journal"
node web/tests/hostile.mjs "$address" "${arguments[@]:1}"
end_run
