#!/usr/bin/env bash
# Configures a preset when needed and builds it: tools/build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
targets=("${@:-all}")

# A preset that changed since must be configured again; for everything else ninja knows.
build_dir="build/$preset"
if [[ ! -f "$build_dir/build.ninja" || CMakePresets.json -nt "$build_dir/build.ninja" ]]; then
  configured=$(cmake --preset "$preset" 2>&1) || {
    echo "$configured" >&2
    exit 1
  }
fi
cmake --build "$build_dir" --target "${targets[@]}" --parallel "${JOBS:-$(nproc)}"
