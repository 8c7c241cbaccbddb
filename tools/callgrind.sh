#!/usr/bin/env bash
# Instructions per decision and per node, by callgrind: the same on every run, so small gains show.
#
#   tools/callgrind.sh [CASE] [DECISIONS]     default random-5000x30 10; cases: see bench/plan.cpp
#                                             and bench/gang.cpp
#
# Only what runs inside `makeway::decide` is counted. CALLGRIND_OUT=FILE keeps the profile for
# callgrind_annotate; PLAN=PROGRAM measures another build of bench/plan.cpp or bench/gang.cpp.
set -euo pipefail
cd "$(dirname "$0")/.."

case_name=${1:-random-5000x30}
decisions=${2:-10}
benchmark=plan
if [[ $case_name == *-gang-* ]]; then benchmark=gang; fi
program=${PLAN:-build/release/bench/$benchmark}

if ! command -v valgrind >/dev/null; then
  echo "callgrind: valgrind is not installed, so nothing was counted"
  exit 0
fi
if [[ ! $case_name =~ -([0-9]+)x[0-9]+ ]]; then
  echo "callgrind: '$case_name' names no size, as random-5000x30 does" >&2
  exit 2
fi
nodes=${BASH_REMATCH[1]}
if [[ ! -x $program ]]; then tools/build.sh release "bench_$benchmark"; fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
valgrind --tool=callgrind --toggle-collect='makeway::decide(*' \
  --callgrind-out-file="${CALLGRIND_OUT:-/dev/null}" \
  "$program" --case "$case_name" --once --repeat "$decisions" >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
collected=$(awk '/Collected/ {print $NF}' "$log")
if [[ -z $collected || $collected -eq 0 ]]; then
  echo "callgrind: nothing was counted; is the function still called makeway::decide?" >&2
  cat "$log" >&2
  exit 1
fi
awk -v name="$case_name" -v total="$collected" -v decisions="$decisions" -v nodes="$nodes" 'BEGIN {
  printf "callgrind %s: %.0f instructions a decision, %.1f a node (%d decisions)\n",
         name, total / decisions, total / decisions / nodes, decisions
}'
