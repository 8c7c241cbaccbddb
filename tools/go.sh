#!/usr/bin/env bash
# Prints the path of a Go that can build our Go programs (1.26 or later): tools/go.sh
#
# Where it is older or missing, the toolchain is fetched as Go itself would do it from 1.21 on
# (Debian 12 has 1.19): the module golang.org/toolchain from the proxy that GOPROXY names, checked
# against the hash below, into our cache. That needs CMake and ca-certificates, no Go.
set -euo pipefail

wanted=1.26.8
declare -A sha256=(
  [amd64]=30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7
  [arm64]=02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99
)

# "1.26.8" of "go version go1.26.8 linux/amd64"; empty: there is none.
version_of() { "$1" version 2>/dev/null | sed -n 's/^go version go\([0-9.]*\).*/\1/p'; }
at_least() { [[ -n $2 && $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

found=$(command -v go || true)
if [[ -n $found ]]; then
  version=$(GOTOOLCHAIN=local version_of "$found")
  if at_least 1.26 "$version"; then
    echo "$found"
    exit 0
  fi
fi

machine=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
name=v0.0.1-go$wanted.linux-$machine
folder=${XDG_CACHE_HOME:-$HOME/.cache}/makeway/go-$wanted-$machine
if [[ -x $folder/bin/go ]]; then
  echo "$folder/bin/go"
  exit 0
fi
if [[ $(uname -s) != Linux || -z ${sha256[$machine]:-} ]]; then
  echo "go: no Go 1.26 is installed, and there is none to fetch for $(uname -sm)" >&2
  exit 1
fi
# An older Go knows where modules come from; without one GOPROXY must say it.
proxy=${GOPROXY:-}
if [[ -z $proxy && -n $found ]]; then proxy=$(GOTOOLCHAIN=local "$found" env GOPROXY); fi
proxy=${proxy%%[,|]*}
if [[ -z $proxy ]]; then
  echo "go: no Go is installed: install any (golang-go), or name a module proxy in GOPROXY" >&2
  exit 1
fi
if [[ $proxy == direct || $proxy == off ]]; then
  echo "go: no Go 1.26 is installed, and GOPROXY=$proxy is no place to fetch it from" >&2
  exit 1
fi

echo "go: fetching Go $wanted (70 MB), since ${version:-none} is installed" >&2
mkdir -p "${folder%/*}"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# CMake is there anyway, and can fetch, check and unpack.
cat >"$scratch/fetch.cmake" <<CMAKE
file(DOWNLOAD "$proxy/golang.org/toolchain/@v/$name.zip" "$scratch/go.zip"
     EXPECTED_HASH SHA256=${sha256[$machine]} TLS_VERIFY ON INACTIVITY_TIMEOUT 60)
file(ARCHIVE_EXTRACT INPUT "$scratch/go.zip" DESTINATION "$scratch/unpacked")
CMAKE
if ! said=$(cmake -P "$scratch/fetch.cmake" 2>&1); then
  printf 'go: Go %s cannot be fetched:\n%s\n' "$wanted" "$said" >&2
  exit 1
fi
root=$scratch/unpacked/golang.org/toolchain@$name
# As cmd/go does after unpacking: a module may hold neither programs nor modules.
chmod +x "$root"/bin/* "$root"/pkg/tool/*/*
find "$root" -name _go.mod -execdir cp {} go.mod \;
GOTOOLCHAIN=local "$root/bin/go" version >&2
mv -T "$root" "$folder"
echo "$folder/bin/go"
