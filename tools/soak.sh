#!/usr/bin/env bash
# Histories in the simulator, all kinds and faults, until it is stopped: tools/soak.sh [FIRST_SEED]
#
# Every plan is judged, nothing may be lost or evicted twice, everything must come to rest. The seed
# of a failure is printed and ends it. SOAK_ROUNDS limits the rounds, SOAK_CYCLES the cycles of the
# loop, and SOAK_CASES says how many histories of each property a round has. SOAK_PROGRAM is a copy
# of property_tests to use instead of building it, so that later builds do not disturb it.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${1:-1}
rounds=${SOAK_ROUNDS:-0}
cycles_max=${SOAK_CYCLES:-0}
cases=${SOAK_CASES:-500}
program=${SOAK_PROGRAM:-build/release/tests/property_tests}
if [[ -z ${SOAK_PROGRAM:-} ]]; then tools/build.sh release property_tests makeway; fi
export MAKEWAY_SOURCE_DIR=$PWD MAKEWAY_BINARY=$PWD/build/makeway
cycles=0
for ((round = 1; rounds == 0 || round <= rounds; ++round)); do
  # A property makes one history of 10 cases.
  if ! out=$(MAKEWAY_PROPERTY_SEED=$seed MAKEWAY_PROPERTY_CASES=$((cases * 10)) \
    "$program" --gtest_filter='SimulationProperties.*' 2>&1); then
    printf '%s\n' "$out" | tail -n 40
    exit 1
  fi
  made=$(printf '%s\n' "$out" | sed -n 's/^\([0-9][0-9]*\) cycles.*/\1/p' | paste -sd+ -)
  cycles=$((cycles + ${made:-0}))
  last=$((seed + cases - 1))
  echo "soak: round $round, seeds $seed to $last: all laws kept; $cycles cycles so far"
  if ((cycles_max > 0 && cycles >= cycles_max)); then exit 0; fi
  seed=$((seed + cases))
done
