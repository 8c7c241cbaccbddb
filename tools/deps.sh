#!/usr/bin/env bash
# Makes sure that Debian packages are installed: tools/deps.sh GROUP...   (build, test, check, e2e)
#
# Missing ones are installed when we may (root, or sudo without a password); otherwise the one line
# to run is printed and we fail. Nothing is missing: no output, a few hundredths of a second.
set -euo pipefail

declare -A group=(
  [build]="g++ cmake ninja-build ccache mold
           libfmt-dev libsimdjson-dev libyaml-dev zlib1g-dev libcli11-dev libcurl4-openssl-dev
           libssl-dev libboost1.81-dev prometheus-cpp-dev"
  [test]="libgtest-dev"
  [check]="clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-19 libbenchmark-dev"
  [e2e]="ca-certificates util-linux"
)
# Without these a test is skipped, and says so: where they cannot be had, nothing else stops.
declare -A optional_group=([test]="tmux")
# Any Go will do: an old one fetches the one that is needed (tools/go.sh).
command -v go >/dev/null || group[e2e]+=" golang-go"

wanted=()
optional=()
for name in "$@"; do
  if [[ -z "${group[$name]:-}" ]]; then
    echo "deps: unknown group '$name'; there are: ${!group[*]}" >&2
    exit 2
  fi
  read -r -d '' -a packages <<<"${group[$name]}" || true
  wanted+=("${packages[@]}")
  read -r -d '' -a packages <<<"${optional_group[$name]:-}" || true
  optional+=("${packages[@]}")
done

if ! command -v dpkg-query >/dev/null; then
  echo "deps: not a Debian system, so nothing was checked; needed: ${wanted[*]}" >&2
  exit 0
fi

all=("${wanted[@]}" "${optional[@]}")
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${all[@]}" 2>/dev/null || true)
missing_of() {
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$installed" || echo "$package"
  done
}
mapfile -t missing < <(missing_of "${wanted[@]}")
mapfile -t missed < <(missing_of "${optional[@]}")
if [[ ${#missing[@]} -eq 0 && ${#missed[@]} -eq 0 ]]; then exit 0; fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi
    echo "deps: these Debian packages are missing; please run:" >&2
    install="apt-get install -y --no-install-recommends ${missing[*]} ${missed[*]}"
    echo "  sudo apt-get update && sudo $install" >&2
    exit 1
  fi
fi

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "$@" >&2
}
if [[ ${#missing[@]} -gt 0 ]]; then
  echo "deps: installing ${missing[*]}" >&2
  install "${missing[@]}"
fi
if [[ ${#missed[@]} -gt 0 ]]; then
  echo "deps: installing ${missed[*]}" >&2
  install "${missed[@]}" || echo "deps: ${missed[*]} cannot be had; some tests are skipped" >&2
fi
