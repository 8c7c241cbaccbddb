#!/usr/bin/env bash
# Where the time of a build goes: tools/build-times.sh [PRESET] [--trace LAYER...]
#
# Without --trace: seconds that the steps of the last build of PRESET (release) took, by part, and
# the slowest ten steps, from ninja's log. Steps that came from ccache count as they were; for the
# figures of a first build, build with CCACHE_DISABLE=1 in a fresh clone.
# With --trace: each layer is compiled once more with clang 19 and -ftime-trace, batch by batch: per
# layer the seconds for parsing, instantiation and code generation, then the ten most expensive
# headers (with what they include) and templates. Nothing is kept. All layers take about as long as
# a first build on one core.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
if [[ $# -gt 0 && $1 != --trace ]]; then
  preset=$1
  shift
fi
log=build/$preset/.ninja_log
if [[ ! -f $log ]]; then
  echo "build-times: $log is not there; build first (tools/build.sh $preset)" >&2
  exit 1
fi

# steps: "SECONDS PART STEP" for each step of the last build, the newest entry of each.
steps() {
  awk -F '\t' '$1 ~ /^[0-9]+$/ {seconds[$4] = ($2 - $1) / 1000}
    END {
      for (step in seconds) {
        part = "others"
        if (match(step, /[^\/]*\.dir\//)) part = substr(step, RSTART, RLENGTH - 5)
        sub(/^makeway_/, "", part)
        printf "%.1f %s %s\n", seconds[step], part, step
      }
    }' "$log"
}

if [[ ${1:-} != --trace ]]; then
  steps | awk '{seconds[$2] += $1; files[$2]++; all += $1; count++}
    END {
      printf "%9.1f s %5d  all\n", all, count
      for (part in seconds) printf "%9.1f s %5d  %s\n", seconds[part], files[part], part
    }' | sort -rn
  echo "the slowest steps:"
  steps | sort -rn | awk 'NR <= 10 {printf "%9.1f s  %s\n", $1, $3}'
  exit
fi
shift

for tool in clang++-19 jq; do
  command -v "$tool" >/dev/null || {
    echo "build-times: $tool is not installed" >&2
    exit 1
  }
done
if [[ $# -eq 0 ]]; then
  echo "usage: tools/build-times.sh [PRESET] --trace LAYER..." >&2
  exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commands=build/$preset/compile_commands.json

# total NAME TRACE...: one of clang's sums, in seconds.
total() {
  jq -s --arg name "Total $1" '[.[].traceEvents[] | select(.name == $name) | .dur] | add // 0
    | . / 1e6' "${@:2}"
}

# instantiation TRACE...: seconds in which a template was instantiated, nested ones counted once.
instantiation() {
  local trace
  for trace in "$@"; do
    jq -r '.traceEvents[] | select(.name == "InstantiateClass" or .name == "InstantiateFunction")
      | "\(.ts) \(.ts + .dur)"' "$trace" | sort -n |
      awk '$2 > end {sum += $2 - ($1 > end ? $1 : end); end = $2} END {print sum / 1e6}'
  done | awk '{sum += $1} END {print sum + 0}'
}

printf '%-10s %6s %9s %14s %15s\n' LAYER FILES PARSING INSTANTIATION 'CODE GENERATION'
for layer in "$@"; do
  mkdir -p "$work/$layer"
  mapfile -t files < <(jq -r --arg part "/makeway_$layer.dir/Unity/" \
    '.[] | .file | select(contains($part))' "$commands" | sort -u)
  if [[ ${#files[@]} -eq 0 ]]; then
    echo "build-times: build/$preset compiles nothing of '$layer'" >&2
    exit 1
  fi
  for file in "${files[@]}"; do
    level=$(jq -r --arg file "$file" 'first(.[] | select(.file == $file)) | .command' "$commands" |
      grep -oE -- '-O[0-3]' | tail -n 1)
    clang++-19 -std=c++23 "${level:--O2}" -w -Isrc -Itests -c "$file" \
      -o "$work/object.o" -DMAKEWAY_VERSION='""' -DMAKEWAY_CONTAIN=1 \
      -ftime-trace="$work/$layer/$(basename "$file").json" -ftime-trace-granularity=200
  done
  traces=("$work/$layer"/*.json)
  total Frontend "${traces[@]}" >"$work/frontend"
  instantiation "${traces[@]}" >"$work/instantiation"
  total Backend "${traces[@]}" >"$work/backend"
  paste "$work/frontend" "$work/instantiation" "$work/backend" |
    awk -v layer="$layer" -v files="${#files[@]}" \
      '{printf "%-10s %6d %7.1f s %12.1f s %13.1f s\n", layer, files, $1 - $2, $2, $3}'
done

# largest: the ten with the largest sums, from lines "MICROSECONDS<tab>NAME".
largest() {
  awk -F '\t' '{sum[$2] += $1; count[$2]++}
    END {for (each in sum) printf "%9.1f s %6d x  %s\n", sum[each] / 1e6, count[each], each}' |
    sort -rn | sed -n 1,10p
}
echo "headers, with what they include:"
for trace in "$work"/*/*.json; do
  # A header begins (b) and ends (e); what it includes is between.
  jq -r '.traceEvents[] | select(.name == "Source")
    | "\(.ph)\t\(.ts)\t\(.args.detail // "")"' "$trace" |
    awk -F '\t' '$1 == "b" {depth++; since[depth] = $2; name[depth] = $3}
      $1 == "e" {print $2 - since[depth] "\t" name[depth]; depth--}'
done | grep -v '\.cpp$' | sed "s|$PWD/||" | largest
echo "templates, with what they instantiate:"
jq -r '.traceEvents[]
  | select(.name == "InstantiateClass" or .name == "InstantiateFunction")
  | "\(.dur)\t\(.args.detail)"' "$work"/*/*.json | sed 's|<.*||' | largest
