#!/usr/bin/env bash
# How long `makeway why` takes in a long journal: tools/bench-why.sh [PODS]
#
# Simulates so many pods (604,800 by default: one a second for a week; some minutes of a core and
# about a gigabyte in the folder for temporary files), and asks for one of the first, for one of the
# last, and for one that never existed. It checks each answer before it reports how long it
# took; the best of three counts.
set -euo pipefail
cd "$(dirname "$0")/.."

pods=${1:-604800}
tools/build.sh release makeway >/dev/null
makeway=$PWD/build/makeway
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
journal="$folder/run.journal"

"$makeway" simulate --generate "nodes=1000,pods=$pods,load=60" --judge off \
  --journal "$journal" >/dev/null
bytes=$(stat -c %s "$journal")
echo "bench-why: $pods pods, a journal of $((bytes / 1000000)) MB"

# why_takes OBJECT STATUS TEXT: the output has TEXT, and the process ends with STATUS.
why_takes() {
  local object=$1 status=$2 text=$3 best=0 started ms code
  for _ in 1 2 3; do
    started=$(date +%s%N)
    code=0
    "$makeway" why --journal "$journal" "$object" >"$folder/out.txt" 2>&1 || code=$?
    ms=$((($(date +%s%N) - started) / 1000000))
    if [[ $code -ne $status ]] || ! grep -q "$text" "$folder/out.txt"; then
      echo "bench-why: FAILED: why $object ended with $code: $(head -c 300 "$folder/out.txt")" >&2
      exit 1
    fi
    if [[ $best -eq 0 || $ms -lt $best ]]; then best=$ms; fi
  done
  echo "bench-why: $object: $best ms, $((bytes / 1000 / (best + 1))) MB/s"
}

names=$("$makeway" journal list "$journal" 2>/dev/null | wc -l)
echo "bench-why: $names records"
why_takes default/task-0000007 0 "is bound to"
why_takes "default/$(printf 'task-%07d' $((pods / 2)))" 0 "is bound to"
why_takes default/missing 1 "has no pod"
