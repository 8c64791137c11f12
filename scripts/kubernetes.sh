#!/usr/bin/env bash
# Builds real Kubernetes, etcd and Helm from their Go modules, for tests that need the genuine peers.
set -euo pipefail

kubernetes=${KOORD_KUBERNETES_VERSION:-1.35.4}
etcd=${KOORD_ETCD_VERSION:-3.6.14}
helm=${KOORD_HELM_VERSION:-3.20.2}
dir=${KOORD_KUBERNETES_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/koordinator/kubernetes-$kubernetes}
repository=$(cd "$(dirname "$0")/.." && pwd)
# In the order in which they are most useful to a test that waits for them.
all=(kubectl kube-apiserver etcd kube-controller-manager kube-scheduler kubelet helm)

usage() {
  cat <<USAGE
usage: scripts/kubernetes.sh [PROGRAM...]

Builds the named programs of Kubernetes $kubernetes (etcd $etcd, helm $helm) and prints the
directory that holds them. Without arguments builds all: ${all[*]}.
A program that is already there is not built again. Progress goes to stderr.

  KOORD_KUBERNETES_DIR      where the programs go
                            (now $dir)
  KOORD_KUBERNETES_VERSION  another version of Kubernetes
  KOORD_ETCD_VERSION        another version of etcd
  KOORD_HELM_VERSION        another version of helm
  GOFLAGS, GOPROXY, ...     are honoured as by any go command; GOFLAGS=-p=1 uses one core

Exits with 2 if Go is missing or modules cannot be downloaded, with 1 if a build fails.
Needs Go 1.25 or newer and 6 GB of disk for Go's caches; the first run takes about ten minutes on
two cores. Only developers and CI need this: Koordinator itself needs no Go.
USAGE
}

say() { echo "kubernetes.sh: $*" >&2; }
die() { say "$*"; exit 1; }
# Nothing is wrong but what is needed cannot be had here: exit code 2, which callers may pass over.
cannot() { say "$*"; exit 2; }

# module NAME MODULE VERSION SIBLINGS: makes $work/modules/NAME, a main module to build MODULE from, and
# sets mode. The versions that are usual have theirs in tests/kubernetes/modules, with the checksums of
# everything that is downloaded; others get one made from MODULE's own go.mod.
module() {
  local name=$1 module=$2 version=$3 siblings=$4
  local folder=$work/modules/$name pinned=$repository/tests/kubernetes/modules/$name
  mode=mod
  grep -qE "^(require)?\s*$module $version$" "$pinned/go.mod" && mode=readonly
  [[ -d $folder ]] && return
  say "downloading $module $version and what it needs"
  mkdir -p "$folder"
  if [[ $mode == readonly ]]; then
    cp "$pinned"/go.{mod,sum} "$folder"
  else
    make_module "$folder" "$module" "$version" "$siblings"
  fi
  (cd "$folder" && { download || download || download; }) ||
    cannot "cannot download what $module needs: is the module proxy ($(go env GOPROXY)) in reach?"
}

# Can be repeated: what has come stays, and the rest may only have been late, as on a busy machine. Go
# fetches as many modules at once as it has processors, which is far too few for a network.
download() {
  GOMAXPROCS=16 go mod download
}

# make_module FOLDER MODULE VERSION SIBLINGS: starts with MODULE's own go.mod, so that every dependency
# (and Go's compatibility level) is the released one. Siblings that a checkout replaces by its own
# folders are taken at version SIBLINGS, or at the version that MODULE requires when SIBLINGS is empty.
make_module() {
  local folder=$1 module=$2 version=$3 siblings=$4 go_mod rule='/=> \.\.?\//d'
  go_mod=$(cd "$folder" && go mod download -json "$module@$version" |
    sed -n 's/^\t"GoMod": "\(.*\)",\{0,1\}$/\1/p') && [[ -f $go_mod ]] ||
    cannot "cannot download $module $version: is the module proxy ($(go env GOPROXY)) in reach?"
  [[ -z $siblings ]] || rule="s#(\S+) => \.\.?/.*#\1 => \1 $siblings#"
  sed -E -e 's|^module .*|module throwaway|' -e "$rule" "$go_mod" >"$folder/go.mod"
  (cd "$folder" && go mod edit -require="$module@$version")
}

build() {
  local program=$1 folder=$work/modules/kubernetes package=k8s.io/kubernetes/cmd/$1
  local flags='-s -w' minor p mode start=$SECONDS
  if [[ $program == etcd ]]; then
    folder=$work/modules/etcd package=go.etcd.io/etcd/server/v3
    module etcd "$package" "v$etcd" ""
  elif [[ $program == helm ]]; then
    folder=$work/modules/helm package=helm.sh/helm/v3/cmd/helm
    module helm helm.sh/helm/v3 "v$helm" ""
    # The version of Kubernetes that charts are rendered for without a cluster.
    p=helm.sh/helm/v3/pkg/chartutil
    flags+=" -X $p.k8sVersionMajor=1 -X $p.k8sVersionMinor=$(cut -d. -f2 <<<"$kubernetes")"
  else
    module kubernetes k8s.io/kubernetes "v$kubernetes" "v0.${kubernetes#1.}"
    minor=$(cut -d. -f2 <<<"$kubernetes")
    for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
      flags+=" -X $p.gitVersion=v$kubernetes -X $p.gitTreeState=clean"
      flags+=" -X $p.gitMajor=1 -X $p.gitMinor=$minor"
    done
  fi
  say "building $program"
  # The tags are those of the official builds.
  (cd "$folder" && CGO_ENABLED=0 go build -mod=$mode -trimpath -tags selinux,notest,grpcnotrace \
    -ldflags "$flags" -o "$work/$program" "$package") || die "building $program failed"
  mv "$work/$program" "$dir/$program"
  say "built $program in $((SECONDS - start)) s"
}

missing() {
  local program
  for program in "${programs[@]}"; do
    [[ -f $dir/$program && -x $dir/$program ]] || echo "$program"
  done
}

case ${1-} in
  -h | --help) usage; exit ;;
esac
programs=("${@:-${all[@]}}")
for program in "${programs[@]}"; do
  [[ " ${all[*]} " == *" $program "* ]] || die "unknown program '$program', one of: ${all[*]}"
done

if [[ -n $(missing) ]]; then
  command -v go >/dev/null ||
    cannot "no Kubernetes in $dir, and no go to build it with: install Go 1.25 or newer"
  mkdir -p "$dir"
  exec 9>"$dir/.lock"
  flock -n 9 || { say "waiting for another run"; flock 9; }
  # On the same file system as $dir, so that the final rename is atomic.
  work=$(mktemp -d "$dir/.build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  for program in $(missing); do build "$program"; done
fi
echo "$dir"
