#!/usr/bin/env bash
# Times makeway and kube-scheduler on the same clusters, in turns, and prints one table:
#   tools/bench-peers.sh [CASE...]     cases as `bench/plan.cpp` names them
#
#   ROUNDS=3   turns a case; of their medians the table has the median
#   RUNS=5     decisions of kube-scheduler in a turn and mode, fewer when they are slow
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v go >/dev/null; then
  echo "bench-peers: needs Go, see bench/peer-kube/README.md"
  exit 0
fi

cases=("$@")
if [[ ${#cases[@]} -eq 0 ]]; then
  cases=(random-1000x30 random-5000x30 uniform-5000x30)
  for option in budgets anti-affinity spread verdict; do cases+=("random-5000x30-$option"); done
fi

tools/build.sh release bench_plan
plan=$PWD/build/release/bench/plan
folder=$PWD/build/peers
mkdir -p "$folder"
echo "bench-peers: building bench/peer-kube (minutes when it is the first time)"
go build -C bench/peer-kube -buildvcs=false -o "$folder/peer-kube" .

rm -f "$folder"/*.json "$folder"/*.jsonl
files=()
for case in "${cases[@]}"; do
  "$plan" --case "$case" --write "$folder" >/dev/null
  files+=("$folder/$case.json")
done
for ((round = 1; round <= ${ROUNDS:-3}; ++round)); do
  for case in "${cases[@]}"; do
    echo "bench-peers: round $round, $case"
    "$plan" --case "$case" --json "$folder/one.jsonl" >/dev/null
    cat "$folder/one.jsonl" >>"$folder/makeway.jsonl"
    "$folder/peer-kube" time --runs "${RUNS:-5}" "$folder/$case.json" >>"$folder/kube.jsonl"
  done
done
"$folder/peer-kube" table "$folder/makeway.jsonl" "$folder/kube.jsonl" "${files[@]}"
