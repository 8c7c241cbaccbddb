#!/usr/bin/env bash
# clang-tidy-19 over every .cpp of src, tests and bench: tools/tidy.sh [FILE...]
# TIDY_DEEP=1 adds the path-sensitive analyzer for src and bench, in about twice the time.
#
# A file is analysed again only when something that the answer depends on changed: the file, a
# header of ours that it includes, .clang-tidy, its compile command or clang-tidy itself. The
# memory of clean files is a set of empty stamps, named by the hash of all that.
set -euo pipefail
cd "$(dirname "$0")/.."

build_dir=build/tidy
stamps=$build_dir/stamps

# One file; called by xargs below.
if [[ "${1:-}" == --one ]]; then
  file=$2
  # The headers of ours, in the order the compiler met them; system headers change with apt only.
  inputs=$(clang++-19 -std=c++23 -Isrc -Itests -I. -MM -MG -MT x "$file" |
    tr -d '\\' | tr ' ' '\n' | grep -E '^(src|tests|bench)/' || true)
  key=$( (
    echo "$TIDY_COMMON${TIDY_DEEP:+ deep}"
    grep -F "\"$PWD/$file\"" -B 3 "$build_dir/compile_commands.json" | grep '"command"' || true
    # shellcheck disable=SC2086  # a list of paths without blanks
    cat .clang-tidy "$file" $inputs
  ) | sha256sum | cut -d ' ' -f 1)
  stamp="$stamps/$key"
  if [[ -f "$stamp" ]]; then
    touch "$stamp"
    exit 0
  fi
  started=$SECONDS
  # The path-sensitive analyzer takes as long as all other checks together, and up to four times as
  # long on gtest's macros; what it looks for is also looked for by the sanitizers, at run time.
  narrowed=("--checks=-clang-analyzer-*")
  if [[ -n "${TIDY_DEEP:-}" && $file != *_test.cpp && $file != tests/* ]]; then narrowed=(); fi
  if output=$(clang-tidy-19 --quiet -p "$build_dir" "${narrowed[@]}" "$file" 2>/dev/null); then
    touch "$stamp"
    echo "tidy: $file: clean, $((SECONDS - started)) s"
  else
    echo "$output"
    echo "tidy: $file: FAILED"
    exit 1
  fi
  exit 0
fi

cmake --preset tidy >/dev/null
mkdir -p "$stamps"
find "$stamps" -type f -mtime +30 -delete
TIDY_COMMON=$(clang-tidy-19 --version | grep version)
export TIDY_COMMON

if [[ $# -gt 0 ]]; then
  files=("$@")
else
  # Exactly what CMake compiles: a file it does not know is reported by the dead-file test.
  mapfile -t files < <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\",\?\$|\1|p" \
    "$build_dir/compile_commands.json" | grep -E '^(src|tests|bench)/' | sort -u)
fi

printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${JOBS:-2}" tools/tidy.sh --one
echo "tidy: ${#files[@]} files are clean"
