#!/usr/bin/env bash
# Runs the tests that need real Kubernetes: clusters that leave nothing behind, our CRDs on its API
# server, its newest kubectl on the local cluster, the clients' tests on itself, which shows that they
# ask for nothing strange, scenarios on itself with our scheduler, our programs killed, the whole loop
# of co-location on a real node, and everything installed by kustomize and Helm.
# Exits with 2 where there is no Kubernetes and nothing to build it with.
set -uo pipefail
cd "$(dirname "$0")/../.."
bin=${1:-build/bin}
programs=$(scripts/kubernetes.sh) || exit $?
debian_kubectl=$(scripts/kubectl.sh) || exit 1
scripts/packages.sh node || exit 1
failed=()

run() {
  local what=$1 start=$SECONDS
  shift
  echo "== $what"
  "$@" || failed+=("$what")
  echo "($((SECONDS - start)) s)"
}

run "clusters leave nothing behind" tests/kubernetes/leftovers_test.py
run "CRDs on Kubernetes" tests/kubernetes/crds_test.py
run "clients on the local cluster" tests/clients/run.py --koord "$bin/koord" \
  --kubectl "$programs/kubectl" --kubectl "$debian_kubectl"
run "clients on Kubernetes" tests/kubernetes/cluster.py run --controller-manager --scheduler -- \
  tests/clients/run.py --kubectl "$programs/kubectl" --kubectl "$debian_kubectl"
run "scenarios on Kubernetes, placed by koord-scheduler" tests/kubernetes/scenarios_test.py \
  "$bin/koord" "$bin/koord-scheduler"
run "co-location on a real node" tests/kubernetes/colocation_test.py "$bin"
run "installation by kustomize and Helm" tests/kubernetes/deploy_test.py "$bin"
run "programs that are killed" tests/kubernetes/failover_test.py "$bin"

for what in "${failed[@]}"; do echo "failed: $what"; done
exit $((${#failed[@]} > 0))
