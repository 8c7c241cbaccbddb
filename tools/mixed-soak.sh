#!/usr/bin/env bash
# Judges many random worlds in which all kinds meet: tools/mixed-soak.sh COUNT [FIRST_SEED]
# [KEEP_FOLDER]. Prints the seeds that fail by kind of failure; with a folder, the first of each is
# made small and written there. Fails when one fails. KNOBS=yes: each world under its preset with up
# to eight random settings. PRESET says which tree (release).
set -euo pipefail
cd "$(dirname "$0")/.."

count=${1:?usage: tools/mixed-soak.sh COUNT [FIRST_SEED] [KEEP_FOLDER]}
first=${2:-1}
keep=${3:-}
preset=${PRESET:-release}

tools/build.sh "$preset" mixed_soak
arguments=("$first" "$count")
if [[ -n "$keep" ]]; then
  mkdir -p "$keep"
  arguments+=(--keep "$keep")
fi
if [[ ${KNOBS:-} == yes ]]; then arguments+=(--knobs); fi
exec "build/$preset/tests/mixed_soak" "${arguments[@]}"
