#!/usr/bin/env bash
# Sends hostile documents through plan, check and snapshot: tools/hostile-documents.sh COUNT
# [FIRST_SEED] [KEEP_FOLDER]. Prints the seeds that fail by what is wrong; with a folder, up to 12
# documents of each are written there. Fails when one fails. PRESET says which tree (release).
set -euo pipefail
cd "$(dirname "$0")/.."

count=${1:?usage: tools/hostile-documents.sh COUNT [FIRST_SEED] [KEEP_FOLDER]}
first=${2:-1}
keep=${3:-}
preset=${PRESET:-release}

tools/build.sh "$preset" makeway hostile_documents
arguments=("$first" "$count")
if [[ -n "$keep" ]]; then
  mkdir -p "$keep"
  arguments+=(--keep "$keep")
fi
binary=build/makeway
if [[ "$preset" != release ]]; then binary=build/$preset/makeway; fi
MAKEWAY_BINARY=$binary exec "build/$preset/tests/hostile_documents" "${arguments[@]}"
