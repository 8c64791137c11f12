#!/usr/bin/env bash
# Runs the scenarios that need no running pods against the cluster of $KUBECONFIG, and checks that
# they leave nothing behind: scenarios.sh KOORD KUBECTL
set -euo pipefail
cd "$(dirname "$0")/../.."
koord=$1 kubectl=$2
"$kubectl" apply -f deploy/crds >/dev/null
before=$("$kubectl" get nodes,priorityclasses,crds -o name)
"$koord" test --kubeconfig "$KUBECONFIG" tests/scenarios/api \
  tests/scenarios/scheduler/{node_unschedulable,taint_toleration,node_affinity}.yaml
"$kubectl" wait --for=delete namespace -l app.kubernetes.io/managed-by=koord-test --timeout=60s
after=$("$kubectl" get nodes,priorityclasses,crds -o name)
if [ "$before" != "$after" ]; then
  echo "left behind:"
  diff <(echo "$before") <(echo "$after") || exit 1
fi
