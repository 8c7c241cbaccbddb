#!/usr/bin/env bash
# The report of a simulation of a million pods: how large, and how fast a browser opens it.
#
#   tools/bench-report.sh [PODS]     1,000,000 by default; 80 s of a core
#
# It must have at most 5 MB and open within 2 s, best of four: both themes, two widths (pages.mjs
# of web/tests, which looks at everything in it, too). `make nightly` has it as a stage. What is
# missing for the browser is reported, and then only the size is measured.
set -euo pipefail
cd "$(dirname "$0")/.."

pods=${1:-1000000}
bytes_max=5000000
open_ms_max=2000
tools/build.sh release makeway >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

started=$SECONDS
build/makeway simulate --generate "nodes=1000,pods=$pods,load=60" --judge 100 \
  --report "$folder/report.html" >/dev/null
bytes=$(stat -c %s "$folder/report.html")
echo "bench-report: $pods pods simulated in $((SECONDS - started)) s; the report has $bytes bytes"
if [[ $bytes -gt $bytes_max ]]; then
  echo "bench-report: FAILED: more than $bytes_max bytes" >&2
  exit 1
fi
export CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
if [[ -z $CHROMIUM ]] || ! command -v node >/dev/null ||
  [[ ! -f web/node_modules/.package-lock.json ]]; then
  echo "bench-report: not opened: there is no chromium, node or web/node_modules;" \
    "tools/web-test.sh fetches them" >&2
  exit 0
fi
node web/tests/pages.mjs "$folder" --open-ms "$open_ms_max"
