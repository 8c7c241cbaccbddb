#!/usr/bin/env bash
# The slow half of the evidence, stage by stage: tools/check.sh [STAGE...]
#
# Stages: format, tidy, properties, asan, tsan; also fuzz, the fuzzers of parsers, fuzz-all, those
# of the whole program too, tidy-all, every file instead of what the change touches and a share, and
# tsan-all, everything that starts threads. All run even if an early one fails; the summary at the
# end names each with its wall time, and the exit status is that of the worst.
set -euo pipefail
cd "$(dirname "$0")/.."

stages=("${@:-}")
if [[ -z "${stages[0]}" ]]; then stages=(format tidy properties asan tsan); fi

stage_format() { tools/format.sh check; }

stage_tidy() { tools/tidy.sh; }

stage_tidy-all() { tools/tidy.sh --all; }

# Many cases where they are cheap, in the release build; the sanitizers see fewer of them.
stage_properties() {
  tools/build.sh release
  MAKEWAY_PROPERTY_CASES=${MAKEWAY_PROPERTY_CASES:-3000} tools/test.sh release -L property
}

stage_asan() {
  tools/build.sh asan
  MAKEWAY_PROPERTY_CASES=${MAKEWAY_SANITIZED_CASES:-100} \
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
    UBSAN_OPTIONS=print_stacktrace=1 tools/test.sh asan
}

run_tsan() {
  tools/build.sh tsan "$@"
  MAKEWAY_PROPERTY_CASES=${MAKEWAY_PROPERTY_CASES:-2000} TSAN_OPTIONS=halt_on_error=1 \
    tools/test.sh tsan -R "^($(IFS='|'; echo "$*"))\$"
}

# live_tests has every layer below it, which takes minutes to compile: tsan-all.
stage_tsan() { run_tsan kube_tests; }

stage_tsan-all() {
  cmake --preset tsan >/dev/null
  local name='s/^set_tests_properties(.*=\[\([a-z_]*\)\]=.*/\1/p'
  local threaded
  mapfile -t threaded < <(sed -n "/LABELS \"[^\"]*threads/$name" \
    build/tsan/tests/CTestTestfile.cmake)
  if [[ ${#threaded[@]} -eq 0 ]]; then
    echo "check: no test has the label threads; tests_with_threads names them" >&2
    return 1
  fi
  run_tsan "${threaded[@]}"
}

stage_fuzz() { tools/fuzz.sh; }

stage_fuzz-all() { tools/fuzz.sh --all; }

summary=""
failed=0
for stage in "${stages[@]}"; do
  if ! declare -F "stage_$stage" >/dev/null; then
    echo "check: there is no stage '$stage'" >&2
    exit 2
  fi
  echo "== check: $stage"
  started=$SECONDS
  # A subshell of its own, not a condition: `set -e` must stay in force inside the stage.
  set +e
  (set -e; "stage_$stage")
  status=$?
  set -e
  verdict=passed
  if [[ $status -ne 0 ]]; then
    verdict=FAILED
    failed=1
  fi
  echo "== check: $stage $verdict after $((SECONDS - started)) s"
  summary+=$(printf '  %-8s %-7s %5d s' "$stage" "$verdict" "$((SECONDS - started))")$'\n'
done

echo "== check: summary"
printf '%s' "$summary"
exit $failed
