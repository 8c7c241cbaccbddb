#!/usr/bin/env bash
# Runs the tests of a built preset: tools/test.sh PRESET [ctest argument...]
#
# ctest reports as usual; below each line stands the program's own closing line, and for a
# test that failed everything it said.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
# A test takes two slots, one that mostly waits takes one (tests/CMakeLists.txt): two of these run
# beside as many others as there are processors.
slots=$((2 * ${JOBS:-$(nproc)} + 2))
ctest --test-dir "build/$preset" --verbose --output-on-failure --no-tests=error \
  --parallel "$slots" "$@" 2>&1 | awk -f tools/test_report.awk
