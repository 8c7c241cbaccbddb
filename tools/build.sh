#!/usr/bin/env bash
# Configures a preset when needed and builds it: tools/build.sh PRESET [TARGET...]
#
# Says what it does on standard error: one line when it begins, with an estimate, then how far it
# is: on a terminal always, in a log with every tenth of the steps. Nothing is to do: no output.
# What compilers say comes through. VERBOSE=1: every step, as ninja prints it.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
targets=("${@:-all}")
jobs=${JOBS:-$(nproc)}
build_dir="build/$preset"

# What one step takes on one core, on average, without a compiler cache
# (docs/evidence/2026-11-19-build.md).
step_ms=14000

# A preset that changed since must be configured again; for everything else ninja knows.
if [[ ! -f "$build_dir/build.ninja" || CMakePresets.json -nt "$build_dir/build.ninja" ]]; then
  echo "configuring $build_dir" >&2
  configured=$(cmake --preset "$preset" 2>&1) || {
    echo "$configured" >&2
    exit 1
  }
fi

what="${targets[*]}"
if [[ $what == all ]]; then what="everything"; fi
if [[ $preset != release ]]; then what+=" ($preset)"; fi

# progress: ninja's lines from standard input, as the header of this file says.
progress() {
  local line at steps last=0 begun="" clear="" end="built"
  if [[ -t 2 ]]; then clear=$'\r\e[K'; fi
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      at=${BASH_REMATCH[1]} steps=${BASH_REMATCH[2]}
      # Looking for new files is a step of its own, and no work.
      if [[ $line == *Re-checking* || $line == *Re-running* ]]; then continue; fi
      if [[ -z $begun ]]; then
        begun=yes
        begin "$steps"
      fi
      if [[ -n $clear ]]; then
        printf '%sbuilding %s: %d of %d' "$clear" "$what" "$at" "$steps" >&2
      elif ((at * 10 / steps > last && steps > 10)); then
        last=$((at * 10 / steps))
        echo "building $what: $at of $steps" >&2
      fi
    elif [[ $line == ninja:\ build\ stopped* ]]; then
      end="failed to build"
    elif [[ $line != ninja:\ no\ work\ to\ do. && $line != --\ * ]]; then
      printf '%s%s\n' "$clear" "$line" >&2
    fi
  done
  if [[ -n $begun ]]; then printf '%s%s %s in %d s\n' "$clear" "$end" "$what" "$SECONDS" >&2; fi
}

# begin STEPS: the line before the first step.
begin() {
  local minutes=$((($1 * step_ms / jobs + 30000) / 60000))
  local estimate="less than a minute"
  if ((minutes > 0)); then
    estimate="about $minutes minutes without a compiler cache"
    if ((minutes == 1)); then estimate="about a minute without a compiler cache"; fi
  fi
  echo "building $what, $1 steps with $jobs at a time: $estimate" >&2
}

if [[ -n ${VERBOSE:-} ]]; then
  exec cmake --build "$build_dir" --target "${targets[@]}" --parallel "$jobs"
fi
cmake --build "$build_dir" --target "${targets[@]}" --parallel "$jobs" 2>&1 | progress
