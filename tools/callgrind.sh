#!/usr/bin/env bash
# Instructions per decision and per node, by callgrind: the same on every run, so small gains show.
#
#   tools/callgrind.sh [CASE] [DECISIONS]     default random-5000x30 10; cases: see bench/plan.cpp
#                                             and bench/gang.cpp
#   tools/callgrind.sh FILE [PRESET]          one `makeway plan` of a file, of any kind of ask
#   tools/callgrind.sh --compare OLD NEW FOLDER...
#                                             all files of each folder by two builds of makeway:
#                                             tools/callgrind.sh --compare OLD NEW examples/*/
#
# Only what runs inside `makeway::decide` is counted. CALLGRIND_OUT=FILE keeps the profile for
# callgrind_annotate; PLAN=PROGRAM measures another build of bench/plan.cpp or bench/gang.cpp, or of
# makeway where a FILE is given.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
  echo "callgrind: valgrind is not installed, so nothing was counted"
  exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# count PROGRAM ARGUMENT...: instructions inside `makeway::decide`, the program's output in $log.
count() {
  local status=0 collected
  valgrind --tool=callgrind --toggle-collect='makeway::decide(*' \
    --callgrind-out-file="${CALLGRIND_OUT:-/dev/null}" "$@" >"$log" 2>&1 || status=$?
  collected=$(awk '/Collected/ {print $NF}' "$log")
  if [[ $status -gt 1 || -z $collected || $collected -eq 0 ]]; then
    echo "callgrind: nothing was counted; is the function still called makeway::decide?" >&2
    cat "$log" >&2
    exit 1
  fi
  echo "$collected"
}

if [[ ${1:-} == --compare ]]; then
  old=${2:?OLD} new=${3:?NEW}
  shift 3
  for folder in "$@"; do
    before=0 after=0
    for file in "$folder"/*.yaml; do
      if ! one=$(count "$old" plan -f "$file" 2>/dev/null) ||
        ! two=$(count "$new" plan -f "$file" 2>/dev/null); then
        echo "callgrind: $file is left out: it is refused, so nothing is decided"
        continue
      fi
      before=$((before + one))
      after=$((after + two))
    done
    awk -v name="$folder" -v before="$before" -v after="$after" 'BEGIN {
      printf "callgrind %s: %d instructions before, %d now, ratio %.3f\n", name, before, after,
             after / before
    }'
  done
  exit 0
fi

if [[ -e ${1:-} ]]; then
  collected=$(count "${PLAN:-build/makeway}" plan -f "$1" --preset "${2:-makeway}")
  echo "callgrind $1: $collected instructions"
  exit 0
fi

case_name=${1:-random-5000x30}
decisions=${2:-10}
benchmark=plan
if [[ $case_name == *-gang-* ]]; then benchmark=gang; fi
program=${PLAN:-build/release/bench/$benchmark}

if [[ ! $case_name =~ -([0-9]+)x[0-9]+ ]]; then
  echo "callgrind: '$case_name' names no size, as random-5000x30 does" >&2
  exit 2
fi
nodes=${BASH_REMATCH[1]}
if [[ ! -x $program ]]; then tools/build.sh release "bench_$benchmark"; fi

collected=$(count "$program" --case "$case_name" --once --repeat "$decisions")
awk -v name="$case_name" -v total="$collected" -v decisions="$decisions" -v nodes="$nodes" 'BEGIN {
  printf "callgrind %s: %.0f instructions a decision, %.1f a node (%d decisions)\n",
         name, total / decisions, total / decisions / nodes, decisions
}'
