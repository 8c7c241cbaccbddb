#!/usr/bin/env bash
# Do two builds of makeway decide the same? tools/compare-decisions.sh OLD_BINARY NEW_BINARY
#
# Both plan every file of examples/ under every preset, the steps of tests/scenarios, the cases of
# tests/vectors and ../shared/vectors under every preset, and random worlds in which all kinds meet
# (RANDOM_WORLDS: how many, 20000). PARTS says which of these (examples scenarios vectors random).
# Each case is compared twice:
#   decision   the plan as JSON without ids, hashes and words (reasons, messages, causes)
#   words      everything that is said with --explain, without ids and hashes
# What differs is listed with the first line of the difference, and summed up. Exit status 1 when a
# decision differs. Presets that OLD does not know are left out, and named. SHOWN: how many cases
# are listed of each (20); KEEP: a folder for both outputs of every case that differs; IGNORE: a
# filter for jq, for what is new on purpose, as in IGNORE='del(.queueStatus)'. Inputs of scenarios
# in the short notation are expanded by build/release/tests/short_notation, and random worlds are
# made by build/release/tests/mixed_soak; both are built first where they are needed.
set -euo pipefail

usage="usage: tools/compare-decisions.sh OLD_BINARY NEW_BINARY"
old=$(realpath "${1:?$usage}")
new=$(realpath "${2:?$usage}")
cd "$(dirname "$0")/.."
root=$PWD
shown=${SHOWN:-20}
keep=${KEEP:+$(realpath -m "$KEEP")}
ignore=${IGNORE:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

parts=" ${PARTS:-examples scenarios vectors random} "
random=${RANDOM_WORLDS:-20000}
targets=(short_notation)
if [[ $parts == *" random "* ]]; then targets+=(mixed_soak); fi
tools/build.sh release "${targets[@]}" >"$work/build" 2>&1 || {
  cat "$work/build" >&2
  exit 2
}
short_notation=$root/build/release/tests/short_notation

declare -A compared=([decision]=0 [words]=0) unlike=([decision]=0 [words]=0)

without_ids() {
  sed -E 's/"?(id|planId|configurationHash)"?: ?"[^"]*",?//g; s/, plan [0-9a-f]{16}\.//'
}

without_ignored() {
  if [[ -z "$ignore" ]]; then cat; else jq "$ignore"; fi
}

without_words() {
  sed -E 's/"(reason|message|rule|alternative|key)": ?"([^"\\]|\\.)*",?//g'
}

# run FILTER BINARY ARGUMENT...: what it prints, its errors and its exit status.
run() {
  local filter=$1 binary=$2 status=0
  shift 2
  "$binary" "$@" >"$work/out" 2>"$work/error" || status=$?
  without_ignored <"$work/out" | without_ids | "$filter"
  without_ids <"$work/error" | "$filter"
  echo "exit $status"
}

# note DETAIL CASE: compares $work/old with $work/new.
note() {
  local detail=$1 case=$2 name
  compared[$detail]=$((compared[$detail] + 1))
  cmp -s "$work/old" "$work/new" && return
  unlike[$detail]=$((unlike[$detail] + 1))
  if [[ -n "$keep" ]]; then
    name="$keep/$detail-$(tr -c '[:alnum:]\n.-' '_' <<<"$case")"
    mkdir -p "$keep"
    cp "$work/old" "$name.old"
    cp "$work/new" "$name.new"
  fi
  if ((unlike[$detail] <= shown)); then
    echo "$detail differs: $case"
    { diff "$work/old" "$work/new" || true; } >"$work/difference"
    sed -n 's/^[<>]/  &/p' "$work/difference" | cut -c 1-160 | sed -n 1,4p
  fi
}

# compare CASE ARGUMENT...: a plan of both binaries.
compare() {
  local case=$1
  shift
  run without_words "$old" plan "$@" -o json >"$work/old"
  run without_words "$new" plan "$@" -o json >"$work/new"
  note decision "$case"
  run cat "$old" plan "$@" -o json --explain >"$work/old"
  run cat "$new" plan "$@" -o json --explain >"$work/new"
  note words "$case"
}

# step BINARY FOLDER "makeway ..." [FILTER]: a step of a scenario.
step() {
  local binary=$1 folder=$2 command=$3 filter=${4:-cat} status=0
  (cd "$folder" && eval "\"$binary\" ${command#makeway}") >"$work/out" 2>"$work/error" || status=$?
  "$filter" <"$work/out" | without_ids
  without_ids <"$work/error"
  echo "exit $status"
}

# put_file FILE SHORT: the lines of $work/block into FILE of both folders.
put_file() {
  local target=$1 short=$2 folder
  [[ -n "$target" ]] || return 0
  for folder in "$work/folder-old" "$work/folder-new"; do
    mkdir -p "$folder/$(dirname "$target")"
    if [[ -n "$short" ]]; then
      "$short_notation" <"$work/block" >"$folder/$target"
    else
      cp "$work/block" "$folder/$target"
    fi
  done
}

# Steps depend on the files that earlier ones wrote, so each binary has a folder of its own.
scenario() {
  local file=$1 line target="" short="" name
  name=$(basename "$file" .txt)
  rm -rf "$work/folder-old" "$work/folder-new"
  mkdir -p "$work/folder-old" "$work/folder-new"
  while IFS= read -r line; do
    case $line in
      "==== "* | "---- "* | "\$ "*)
        put_file "$target" "$short"
        target="" short=""
        ;;&
      "==== "*)
        target=${line#==== }
        [[ $target != *" (short)" ]] || short=yes
        target=${target%' (short)'}
        : >"$work/block"
        ;;
      "\$ makeway "*)
        line=${line#\$ }
        line=${line%' | show'*}
        step "$old" "$work/folder-old" "$line" >"$work/old"
        step "$new" "$work/folder-new" "$line" >"$work/new"
        note words "$name: $line"
        [[ $line == "makeway plan "* && $line != *" -o "* && $line != *--batch* ]] || continue
        [[ $line != *">"* ]] || continue
        step "$old" "$work/folder-old" "$line -o json" without_ignored | without_words >"$work/old"
        step "$new" "$work/folder-new" "$line -o json" without_ignored | without_words >"$work/new"
        note decision "$name: $line"
        ;;
      "---- "* | "\$ "*) ;;
      *)
        [[ -z "$target" ]] || printf '%s\n' "$line" >>"$work/block"
        ;;
    esac
  done <"$file"
}

presets=()
while IFS= read -r preset; do
  if "$old" config show "$preset" >"$work/out" 2>&1; then
    presets+=("$preset")
  else
    echo "preset $preset is left out: the old binary does not know it"
  fi
done < <(cd src/codec/presets && ls -- *.yaml | sed 's/\.yaml$//')

# random_worlds: each line of a batch is a case.
random_worlds() {
  local preset detail filter lines id
  mkdir -p "$work/random"
  "build/release/tests/mixed_soak" 1 "$random" --write "$work/random"
  for preset in "${presets[@]}"; do
    [[ -f "$work/random/$preset.jsonl" ]] || continue
    for detail in decision words; do
      filter=without_words
      if [[ $detail == words ]]; then filter=cat; fi
      for binary in old new; do
        "${!binary}" plan --batch "$work/random/$preset.jsonl" --preset "$preset" \
          ${explain[$detail]} 2>/dev/null | without_ignored | without_plan_ids | "$filter" \
          >"$work/all-$binary" || true
      done
      lines=$(wc -l <"$work/all-old")
      compared[$detail]=$((compared[$detail] + lines))
      # Only lines that differ are looked at one by one.
      while IFS=: read -r at _; do
        sed -n "${at}p" "$work/all-old" | tr ',' '\n' >"$work/old"
        sed -n "${at}p" "$work/all-new" | tr ',' '\n' >"$work/new"
        compared[$detail]=$((compared[$detail] - 1))
        id=$(sed -n "${at}p" "$work/random/$preset.jsonl" | cut -c 1-30)
        note "$detail" "random $preset $id"
      done < <(paste -d '\001' "$work/all-old" "$work/all-new" |
        awk -F '\001' '$1 != $2 {print NR ":"}')
    done
  done
}
declare -A explain=([decision]="" [words]=--explain)

without_plan_ids() {
  sed -E 's/"(planId|configurationHash)": ?"[^"]*",?//g; s/"id": ?"[0-9a-f]{16}",?//g'
}

if [[ $parts == *" random "* ]]; then random_worlds; fi

[[ $parts != *" examples "* ]] || while IFS= read -r file; do
  for preset in "${presets[@]}"; do compare "$file, $preset" -f "$file" --preset "$preset"; done
done < <(find examples -type f \( -name '*.yaml' -o -name '*.json' \) | sort)

[[ $parts != *" scenarios "* ]] || for file in tests/scenarios/*.txt; do scenario "$file"; done

for file in tests/vectors/*/*.jsonl.gz ../shared/vectors/*/*.jsonl.gz; do
  [[ $parts == *" vectors "* ]] || break
  [[ -f "$file" ]] || continue
  for preset in "${presets[@]}"; do
    compare "$file, $preset" --batch "$file" --preset "$preset"
  done
done

cd "$root"
for detail in decision words; do
  echo "$detail: ${compared[$detail]} cases compared, ${unlike[$detail]} differ"
done
((unlike[decision] == 0))
