#!/usr/bin/env bash
# clang-format is law: tools/format.sh check | fix
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  check) mode=(--dry-run --Werror) ;;
  fix) mode=(-i) ;;
  *)
    echo "usage: tools/format.sh check|fix" >&2
    exit 2
    ;;
esac

shopt -s nullglob
folders=()
for folder in src tests bench; do [[ -d $folder ]] && folders+=("$folder"); done
mapfile -d '' files < <(find "${folders[@]}" \( -name '*.hpp' -o -name '*.cpp' \) -print0 | sort -z)
printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "${JOBS:-$(nproc)}" clang-format-19 "${mode[@]}"
echo "format: ${#files[@]} files, $1: done"
