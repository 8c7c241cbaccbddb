#!/usr/bin/env bash
# Runs every fuzzer for FUZZ_SECONDS (30) on a copy of its corpus: tools/fuzz.sh [--all | FUZZER...]
#
# Without arguments those of parsers; the fuzzers of src/cli have the whole program below them,
# which takes a quarter of an hour to compile: --all, or by name. `make test` replays every corpus.
# What a fuzzer finds is left in build/fuzz/found/<fuzzer>-*: mend the bug, then keep the input in
# tests/corpus/<fuzzer>/, where `make test` replays it for ever.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${FUZZ_SECONDS:-30}

if [[ "${1:-}" == --one ]]; then
  name=$2
  corpus=build/fuzz/corpus/$name
  rm -rf "$corpus"
  mkdir -p "$corpus" build/fuzz/found
  if [[ -d tests/corpus/$name ]]; then cp -r "tests/corpus/$name/." "$corpus/"; fi
  log=build/fuzz/$name.log
  if "build/fuzz/fuzzers/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/found/$name-" "$corpus" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "fuzz: $name: ${runs:-?} inputs in $seconds s, nothing found"
  else
    tail -n 60 "$log"
    echo "fuzz: $name: FAILED, see build/fuzz/found/"
    exit 1
  fi
  exit 0
fi

shopt -s nullglob
fuzzers=("$@")
if [[ $# -eq 0 || "$1" == --all ]]; then
  fuzzers=()
  for source in src/*/*_fuzz.cpp; do
    if [[ $# -eq 0 && $source == src/cli/* ]]; then continue; fi
    fuzzers+=("$(basename "$source" .cpp)")
  done
fi
if [[ ${#fuzzers[@]} -eq 0 ]]; then
  echo "fuzz: there are no fuzzers yet (src/*/*_fuzz.cpp)"
  exit 0
fi
tools/build.sh fuzz "${fuzzers[@]}"
printf '%s\0' "${fuzzers[@]}" | xargs -0 -n 1 -P "${JOBS:-2}" tools/fuzz.sh --one
