#!/usr/bin/env bash
# What is too long for every change, stage by stage: tools/nightly.sh [STAGE...]
#
# Stages: tidy-all, fuzz-all, tsan-all, asan (1,000 cases), histories (1,000 of every property),
# e2e (large clusters, a minute of changes, E2E_LOAD, 30m, of random load for all policies),
# e2e-soak (the scheduler under faults for E2E_SOAK, 10m), peers (kube-scheduler beside us),
# peer-kube (the same live, half an hour), soak (minutes of SOAK_MINUTES, 5), report (that of a
# million pods). All run even if one fails. The log and a summary with the figures go to
# docs/evidence/nightly-DATE.{log,md}.
set -euo pipefail
cd "$(dirname "$0")/.."

stages=("$@")
if [[ ${#stages[@]} -eq 0 ]]; then
  stages=(e2e e2e-soak histories peers peer-kube soak report asan tsan-all fuzz-all tidy-all)
fi

stage_tidy-all() { tools/check.sh tidy-all; }
stage_asan() { MAKEWAY_SANITIZED_CASES=1000 tools/check.sh asan; }
stage_tsan-all() { tools/check.sh tsan-all; }
stage_fuzz-all() { tools/check.sh fuzz-all; }
# A property makes one history of 10 cases.
stage_histories() {
  tools/build.sh release
  MAKEWAY_PROPERTY_CASES=10000 tools/test.sh release -L property
}
stage_e2e() { CI=true tools/e2e.sh -night -load "${E2E_LOAD:-30m}"; }
stage_e2e-soak() { CI=true tools/e2e.sh -soak "${E2E_SOAK:-10m}"; }
stage_peers() { CI=true tools/bench-peers.sh; }
stage_peer-kube() { CI=true tools/e2e.sh -peer; }
stage_report() { tools/bench-report.sh; }
stage_soak() {
  local end=$((SECONDS + ${SOAK_MINUTES:-5} * 60)) seed=1
  while [[ $SECONDS -lt $end ]]; do
    SOAK_ROUNDS=1 tools/soak.sh "$seed"
    seed=$((seed + ${SOAK_CASES:-500}))
  done
}

for stage in "${stages[@]}"; do
  if ! declare -F "stage_$stage" >/dev/null; then
    echo "nightly: there is no stage '$stage'" >&2
    exit 2
  fi
done

name=docs/evidence/nightly-$(date -u +%Y-%m-%d)
mkdir -p docs/evidence
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
rows=""
failed=0
: >"$name.log"
for stage in "${stages[@]}"; do
  echo "== nightly: $stage" | tee -a "$name.log"
  started=$SECONDS
  # A subshell of its own, not a condition: `set -e` must stay in force inside the stage.
  set +e
  (set -e; "stage_$stage") 2>&1 | tee -a "$name.log"
  status=${PIPESTATUS[0]}
  set -e
  verdict=passed
  if [[ $status -ne 0 ]]; then
    verdict=FAILED
    failed=1
  fi
  echo "== nightly: $stage $verdict after $((SECONDS - started)) s" | tee -a "$name.log"
  rows+="| $stage | $verdict | $((SECONDS - started)) |"$'\n'
done

{
  printf '# Nightly of %s\n\n' "$(date -u +%Y-%m-%d)"
  printf 'Commit %s, %s cores, %s.\n\n' "$commit" "$(nproc)" "$(uname -sm)"
  printf '| stage | result | seconds |\n|---|---|---|\n%s' "$rows"
  printf '\nFigures of `make e2e`:\n\n```\n'
  sed -n '/^\(ok  \|FAILED\) /,/^e2e: /p' "$name.log" | grep -v '^== ' || true
  printf '```\n'
} >"$name.md"
echo "nightly: $name.md and $name.log"
exit $failed
