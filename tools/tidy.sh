#!/usr/bin/env bash
# clang-tidy-19: tools/tidy.sh [--all | FILE...]
#
# Works on the batches in which CMake compiles a folder (cmake/layers.cmake, makeway_unity): most of
# what a file costs is headers, so eight files at once take a fifth of the time. Without arguments:
# the batches that the change touches (what differs from MAKEWAY_BASE, else from the newest commit
# that is a day older than HEAD), those of the newest commits first and at most TIDY_BATCHES (10,
# four to eight minutes on two cores), and a tenth of the others, another one with each commit; what
# was touched and not analysed is reported. --all: everything. FILE: that file alone. TIDY_DEEP=1
# adds the path-sensitive analyzer for src and bench, in about twice the time.
#
# A batch is analysed again only when something that the answer depends on changed: its files, a
# header of ours that they include, .clang-tidy, or clang-tidy itself. The memory of clean batches
# is a set of empty stamps, named by the hash of all that.
set -euo pipefail
cd "$(dirname "$0")/.."

build_dir=build/tidy
stamps=$build_dir/stamps
share=10
batches_max=${TIDY_BATCHES:-10}

# The files of ours that a translation unit consists of, in the order the compiler met them; system
# headers change with apt only.
inputs_of() {
  clang++-19 -std=c++23 -Isrc -Itests -I. -MM -MG -MT x "$1" | tr -d '\\' | tr ' ' '\n' |
    sed "s|^$PWD/||" | grep -E '^(src|tests|bench)/' || true
}

# One translation unit; called by xargs below.
if [[ "${1:-}" == --one ]]; then
  unit=$2
  # shellcheck disable=SC2046  # a list of paths without blanks
  key=$( (echo "$TIDY_COMMON${TIDY_DEEP:+ deep}"; cat .clang-tidy $(inputs_of "$unit")) |
    sha256sum | cut -d ' ' -f 1)
  stamp="$stamps/$key"
  if [[ -f "$stamp" ]]; then
    touch "$stamp"
    exit 0
  fi
  started=$SECONDS
  # A batch includes .cpp files, that is what it is for. The path-sensitive analyzer takes as long
  # as all other checks together, and up to four times as long on gtest's macros; what it looks for
  # is also looked for by the sanitizers, at run time.
  checks="-bugprone-suspicious-include"
  name=${unit##*/}
  is_test=""
  if [[ $unit == *_test.cpp || $unit == tests/* || $name == unity_tests_* ]]; then is_test=yes; fi
  if [[ -z "${TIDY_DEEP:-}" || -n "$is_test" ]]; then
    checks+=",-clang-analyzer-*"
  fi
  # Of a file that is not compiled alone clang-tidy guesses the options, of a test often wrongly.
  if output=$(clang-tidy-19 --quiet -p "$build_dir" "--checks=$checks" \
    ${is_test:+"--extra-arg=-I$PWD/tests"} \
    --header-filter='(src|tests|bench)/.*\.[ch]pp$' "$unit" 2>/dev/null); then
    touch "$stamp"
    echo "tidy: $name: clean, $((SECONDS - started)) s"
  else
    echo "$output"
    echo "tidy: $name: FAILED"
    exit 1
  fi
  exit 0
fi

cmake --preset tidy >/dev/null
mkdir -p "$stamps"
find "$stamps" -type f -mtime +30 -delete
TIDY_COMMON=$(clang-tidy-19 --version | grep version)
export TIDY_COMMON

# Exactly what CMake compiles: a file it does not know is reported by the dead-file test.
mapfile -t all < <(sed -n 's|^ *"file": "\(.*\)",\?$|\1|p' "$build_dir/compile_commands.json" |
  grep -v /generated/ | sed "s|^$PWD/||" | sort -u)

if [[ "${1:-}" == --all ]]; then
  units=("${all[@]}")
elif [[ $# -gt 0 ]]; then
  units=("$@")
else
  day_before=$(($(git log -1 --format=%ct) - 86400))
  base=${MAKEWAY_BASE:-$(git rev-list -1 --before="$day_before" HEAD)}
  # Newest first; what is not committed yet comes before all commits.
  touched=$( (git diff --name-only --diff-filter=AMR HEAD -- src tests bench
    git log --first-parent --diff-merges=first-parent --format= --name-only --diff-filter=AMR \
      ${base:+"$base..HEAD"} -- src tests bench) |
    awk '!seen[$0]++' || true)
  turn=$(($(git rev-list --count HEAD) % share))
  declare -A age=()
  while read -r line_of_file; do
    stem=${line_of_file#*:}
    age[${stem%.*}]=${age[${stem%.*}]:-${line_of_file%%:*}}
  done < <(grep -n . <<<"$touched")
  units=()
  changed=()
  for at in "${!all[@]}"; do
    newest=""
    own=$(sed -n "s|^#include \"$PWD/\(.*\)\.cpp\"$|\1|p" "${all[$at]}")
    for stem in ${own:-${all[$at]%.cpp}}; do
      if [[ -n ${age[$stem]:-} && (-z $newest || ${age[$stem]} -lt $newest) ]]; then
        newest=${age[$stem]}
      fi
    done
    if [[ -n $newest ]]; then
      changed+=("$newest ${all[$at]}")
    elif ((at % share == turn)); then
      units+=("${all[$at]}")
    fi
  done
  mapfile -t looked_at < <(printf '%s\n' "${changed[@]}" | sort -n | cut -d ' ' -f 2 |
    grep . | sed "${batches_max}q")
  units+=("${looked_at[@]}")
  left_out=$((${#changed[@]} - ${#looked_at[@]}))
fi

printf '%s\0' "${units[@]}" | xargs -0 -n 1 -P "${JOBS:-2}" tools/tidy.sh --one
echo "tidy: ${#units[@]} of ${#all[@]} batches are clean"
if [[ ${left_out:-0} -gt 0 ]]; then
  echo "tidy: $left_out more were touched and not looked at: tools/tidy.sh --all"
fi
