#!/usr/bin/env bash
# Times makeway and kube-scheduler on the same clusters, in turns, and prints one table:
#   tools/bench-peers.sh [CASE...]     cases as `bench/plan.cpp` and `bench/gang.cpp` name them
#
#   ROUNDS=3   turns a case; of their medians the table has the median. Gangs have one turn, since
#              kube-scheduler takes up to 20 s for one
#   RUNS=5     decisions of kube-scheduler in a turn and mode, fewer when they are slow
set -euo pipefail
cd "$(dirname "$0")/.."

if ! go=$(tools/go.sh); then
  echo "bench-peers: skipped: needs Go 1.26, see bench/peer-kube/README.md" >&2
  if [[ ${CI:-} == true ]]; then exit 1; fi
  exit 0
fi

cases=("$@")
if [[ ${#cases[@]} -eq 0 ]]; then
  cases=(random-1000x30 random-5000x30 uniform-5000x30)
  for option in budgets anti-affinity spread verdict; do cases+=("random-5000x30-$option"); done
  for nodes in 100 1000; do
    for members in 10 100; do
      for pods in 10 30; do cases+=("random-${nodes}x$pods-gang-$members"); done
    done
  done
fi

tools/build.sh release bench_plan bench_gang
program_for() {
  if [[ $1 == *-gang-* ]]; then
    echo "$PWD/build/release/bench/gang"
  else
    echo "$PWD/build/release/bench/plan"
  fi
}
folder=$PWD/build/peers
mkdir -p "$folder"
echo "bench-peers: building bench/peer-kube (minutes when it is the first time)"
"$go" build -C bench/peer-kube -buildvcs=false -o "$folder/peer-kube" .

rm -f "$folder"/*.json "$folder"/*.jsonl
files=()
for case in "${cases[@]}"; do
  "$(program_for "$case")" --case "$case" --write "$folder" >/dev/null
  files+=("$folder/$case.json")
done
for ((round = 1; round <= ${ROUNDS:-3}; ++round)); do
  for case in "${cases[@]}"; do
    if [[ $round -gt 1 && $case == *-gang-* ]]; then continue; fi
    echo "bench-peers: round $round, $case"
    "$(program_for "$case")" --case "$case" --json "$folder/one.jsonl" >/dev/null
    cat "$folder/one.jsonl" >>"$folder/makeway.jsonl"
    "$folder/peer-kube" time --runs "${RUNS:-5}" "$folder/$case.json" >>"$folder/kube.jsonl"
  done
done
"$folder/peer-kube" table "$folder/makeway.jsonl" "$folder/kube.jsonl" "${files[@]}"
