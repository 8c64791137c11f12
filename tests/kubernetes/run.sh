#!/usr/bin/env bash
# Runs the tests that need real Kubernetes: our CRDs on its API server, its newest kubectl on the
# local cluster, the clients' tests on itself, which shows that they ask for nothing strange, and
# scenarios on itself with our scheduler. Exits with 2 where there is no Kubernetes and nothing to
# build it with.
set -uo pipefail
cd "$(dirname "$0")/../.."
koord=${1:-build/bin/koord}
scheduler=${2:-build/bin/koord-scheduler}
programs=$(scripts/kubernetes.sh kubectl etcd kube-apiserver kube-controller-manager \
  kube-scheduler kubelet helm) || exit $?
debian_kubectl=$(scripts/kubectl.sh) || exit 1
failed=()

run() {
  local what=$1
  shift
  echo "== $what"
  "$@" || failed+=("$what")
}

run "clusters leave nothing behind" tests/kubernetes/leftovers_test.py
run "CRDs on Kubernetes" tests/kubernetes/crds_test.py
run "clients on the local cluster" tests/clients/run.py --koord "$koord" \
  --kubectl "$programs/kubectl" --kubectl "$debian_kubectl"
run "clients on Kubernetes" tests/kubernetes/cluster.py run --controller-manager --scheduler -- \
  tests/clients/run.py --kubectl "$programs/kubectl" --kubectl "$debian_kubectl"
run "scenarios on Kubernetes, placed by koord-scheduler" tests/kubernetes/scenarios_test.py \
  "$koord" "$scheduler"

for what in "${failed[@]}"; do echo "failed: $what"; done
exit $((${#failed[@]} > 0))
