#!/usr/bin/env bash
# makeway against a real Kubernetes control plane: tools/e2e.sh [ARGUMENT OF tests/e2e...]
#
#   tools/e2e.sh -run certificate     only tests whose name contains that
#   tools/e2e.sh -run 'black box'     the cases of tests/e2e/blackbox, with kube-scheduler beside us
#   tools/e2e.sh -night               the long ones too
#   tools/e2e.sh -peer -scale 0.1     no tests: loads for makeway and kube-scheduler, in turns
#   tools/e2e.sh -soak 60m            only the soak, for an hour
#
# Without arguments the pages are looked at in a browser, too, at the end (tools/web-test.sh).
#
# The control plane comes from KUBEBUILDER_ASSETS (a folder with etcd, kube-apiserver,
# kube-controller-manager, kube-scheduler and kwok). Otherwise it is built once, from
# tests/e2e/controlplane, into a cache outside of the tree. What cannot be had (no Go and no way to
# it, no way to the modules) is reported, and the tests are skipped; with CI=true that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=(etcd kube-apiserver kube-controller-manager kube-scheduler kwok)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/makeway

skip() {
  if [[ ${CI:-} == true ]]; then
    echo "e2e: FAILED, since CI=true allows no skipping: $1" >&2
    exit 1
  fi
  echo "e2e: skipped: $1" >&2
  exit 0
}

# The same flags for everything, so that what both modules use is compiled once. A compiler lives
# for seconds: below 2 GiB it collects no garbage, which saves a quarter to 40 % of large packages.
go_build() {
  local version=k8s.io/component-base/version
  CGO_ENABLED=0 GOGC=off GOMEMLIMIT=2GiB "$go" build -C "$1" -mod=readonly -buildvcs=false \
    -trimpath -gcflags=all=-dwarf=false -ldflags "-s -w -X $version.gitVersion=v1.37.1 \
    -X $version.gitMajor=1 -X $version.gitMinor=37" "${@:2}"
}

# Needs minutes the first time; one line a program, with the seconds since the start.
build_control_plane() {
  local folder=$1 module=tests/e2e/controlplane packages=(./etcd sigs.k8s.io/kwok/cmd/kwok)
  for name in kube-scheduler kube-apiserver kube-controller-manager; do
    packages+=("k8s.io/kubernetes/cmd/$name")
  done
  echo "e2e: building a control plane into $folder (once; 8 to 15 minutes on two cores)"
  local said attempt
  # Go does not try again after a time-out, which a busy machine has now and then.
  for attempt in 1 2 3; do
    if said=$("$go" list -C "$module" -mod=readonly -deps "${packages[@]}" 2>&1 >/dev/null); then
      break
    fi
    if [[ $attempt -eq 3 || $said != *[Tt]imeout* ]]; then
      skip "the modules of the control plane cannot be had: $(tail -n 1 <<<"$said")"
    fi
  done
  echo "e2e: modules are there after $SECONDS s"
  local scratch
  scratch=$(mktemp -d "$folder.XXXXXX")
  go_build "$module" -o "$scratch/" "${packages[@]}" &
  local builder=$! reported=" "
  while true; do
    local running=yes
    kill -0 "$builder" 2>/dev/null || running=no
    for name in "${programs[@]}"; do
      if [[ -f $scratch/$name && $reported != *" $name "* ]]; then
        echo "e2e: built $name after $SECONDS s"
        reported+="$name "
      fi
    done
    if [[ $running == no ]]; then break; fi
    sleep 1
  done
  wait "$builder" || { rm -rf "$scratch"; echo "e2e: the build failed" >&2; exit 1; }
  mv -T "$scratch" "$folder"
}

mkdir -p "$cache"
go=$(tools/go.sh) || skip "there is no Go 1.26, and it cannot be had"
assets=${KUBEBUILDER_ASSETS:-}
if [[ -z $assets ]]; then
  sources=(tests/e2e/controlplane/{go.mod,go.sum,etcd/main.go})
  assets=$cache/controlplane-$(cat "${sources[@]}" | sha256sum | cut -c1-16)
  exec 9>"$assets.lock"
  flock 9 # Another one may be building it.
  if [[ ! -d $assets ]]; then build_control_plane "$assets"; fi
  exec 9>&-
fi
for name in "${programs[@]}"; do
  if [[ ! -x $assets/$name ]]; then skip "there is no $name in $assets"; fi
done

tools/build.sh release makeway >/dev/null
mkdir -p build/e2e
go_build tests/e2e -o "$PWD/build/e2e/e2e" . || skip "the tests cannot be built"
export MAKEWAY_BINARY=${MAKEWAY_BINARY:-$PWD/build/makeway}
(cd tests/e2e && ../../build/e2e/e2e -controlplane "$assets" "$@") || exit
if [[ $# -eq 0 ]]; then tools/web-test.sh; fi
