#!/usr/bin/env bash
# Builds the benchmarks in the release tree and runs them one after the other, alphabetically; then
# counts the instructions of a decision, for a pod and for a gang.
set -euo pipefail
cd "$(dirname "$0")/.."

shopt -s nullglob
sources=(bench/*.cpp)
if [[ ${#sources[@]} -eq 0 ]]; then
  echo "bench: there are no benchmarks yet (bench/*.cpp)"
  exit 0
fi
targets=()
for source in "${sources[@]}"; do targets+=("bench_$(basename "$source" .cpp)"); done
tools/build.sh release "${targets[@]}"
for source in "${sources[@]}"; do
  name=$(basename "$source" .cpp)
  echo "== $name"
  "build/release/bench/$name"
done
echo "== callgrind"
tools/callgrind.sh
tools/callgrind.sh random-1000x30-gang-100 3
