#!/usr/bin/env bash
# The pages of web/: tools/web.sh [build | check]
#
#   build    writes web/dist, which is committed and embedded in makeway
#   check    types, lint, and whether web/dist is what the sources give
#
# Needs Node 18 or newer and the packages of web/package-lock.json, which npm fetches once. What
# is missing is reported; `check` then succeeds, since building makeway does not need Node.
set -euo pipefail
cd "$(dirname "$0")/../web"

mode=${1:-build}

without() {
  echo "web: skipped: $1" >&2
  if [[ $mode == build ]]; then exit 1; fi
  exit 0
}

command -v node >/dev/null && command -v npm >/dev/null ||
  without "there is no node or npm (Debian packages nodejs and npm)"
major=$(node --version | sed 's/^v//; s/\..*//')
if [[ $major -lt 18 ]]; then without "node $(node --version) is too old; 18 is needed"; fi
if [[ ! -f node_modules/.package-lock.json || package-lock.json -nt node_modules ]]; then
  timeout 240 npm ci --ignore-scripts --no-audit --no-fund >node_modules.log 2>&1 ||
    { tail -n 3 node_modules.log >&2; rm -f node_modules.log
      without "the packages cannot be had"; }
  rm -f node_modules.log
  touch node_modules
fi

case $mode in
  build)
    node build.mjs
    ls -l dist | awk 'NR > 1 {printf "web: dist/%s, %d bytes\n", $9, $5}'
    ;;
  check)
    node_modules/.bin/tsc --noEmit
    node_modules/.bin/biome check .
    node build.mjs --check
    echo "web: types, lint and dist are in order"
    ;;
  *)
    echo "web: unknown mode '$mode'; there are: build check" >&2
    exit 2
    ;;
esac
