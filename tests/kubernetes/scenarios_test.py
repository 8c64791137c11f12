#!/usr/bin/env python3
"""Scenarios on real Kubernetes, with koord-scheduler as its only scheduler.

    tests/kubernetes/scenarios_test.py build/bin/koord build/bin/koord-scheduler [FILE...]

koord-scheduler runs as a process of its own, as the service account and with the rights of
deploy/scheduler/rbac.yaml. There is no kubelet: a thread of this test says of bound pods that they
run, and ends them when they are deleted. The scenarios must leave nothing behind.
"""

import re
import subprocess
import sys

from cluster import REPOSITORY, Cluster, ClusterError, exit_on_sigterm
from programs import Scheduler, deploy

sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

from harness.api import Api  # noqa: E402
from harness.kubelet import Kubelet  # noqa: E402

SCENARIOS = REPOSITORY / "tests" / "scenarios"
FOLDERS = ["api", "scheduler"]
SKIPPED_FILES = {
    "scheduler/queue.yaml": "it is about time, and would take minutes",
}
# By name.
SKIPPED = {
    "init containers, sidecars and overhead count as they run":
        "Kubernetes takes a pod's overhead from a RuntimeClass only",
    "pods that have ended leave their room to others":
        "nobody ends pods by themselves here",
    "a claim whose volume is lost holds the pod up":
        "Kubernetes' volume controller decides by itself whether a claim is lost",
    "a volume to be made is asked for on the chosen node, within the topology of its class":
        "nobody makes the volume here",
}
# By what they say.
SKIPPED_TEXTS = {
    r"\btimes: ": "it counts events, of which the cluster's own controllers cause more",
    r"\bnamespace: default\b": "it names a namespace; on a live cluster it has one of its own",
}
LEFT_BEHIND = "nodes,priorityclasses,crds,persistentvolumes,storageclasses"


class Nodes(Kubelet):
    """Runs whatever is bound to any node, and adds none of its own."""

    def add_node(self, name, **spec):
        pass

    def _is_mine(self, pod):
        return bool(pod.get("spec", {}).get("nodeName"))


def why_not(path, name, document):
    """Why a scenario cannot hold here, or None."""
    file = SKIPPED_FILES.get(str(path.relative_to(SCENARIOS)))
    texts = (reason for text, reason in SKIPPED_TEXTS.items() if re.search(text, document))
    return file or SKIPPED.get(name) or next(texts, None)


def without_skipped(paths, folder):
    """Copies of the files that lack the skipped scenarios, which are printed."""
    copies = []
    for path in paths:
        kept = []
        for document in re.split(r"^---$\n", path.read_text(), flags=re.MULTILINE):
            name = re.search(r"^name: *(.*?)\s*$", document, flags=re.MULTILINE)[1].strip("\"'")
            if reason := why_not(path, name, document):
                print(f"SKIP {path.relative_to(REPOSITORY)} {name}\n     {reason}")
            else:
                kept.append(document)
        if not kept:
            continue
        copy = folder / path.relative_to(SCENARIOS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("---\n".join(kept))
        copies.append(copy)
    sys.stdout.flush()
    return copies


def run(cluster, koord, scheduler, paths):
    deploy(cluster)
    left = "get", LEFT_BEHIND, "-o", "name"
    before = cluster.kubectl(*left).stdout
    api = Api(cluster.kubeconfig, cluster.directory)
    nodes = Nodes(api, "none")
    nodes.start()
    with Scheduler(scheduler, cluster) as running:
        running.wait_until_leading()
        copies = without_skipped(paths, cluster.directory / "scenarios")
        status = subprocess.run(
            [koord, "test", "--kubeconfig", cluster.kubeconfig, *copies]).returncode
        cluster.kubectl("wait", "--for=delete", "namespace", "--timeout=60s",
                        "-l", "app.kubernetes.io/managed-by=koord-test")
        running.stop()
        refusals = running.refusals()
    nodes.stop()
    after = cluster.kubectl(*left).stdout
    for problem, what in ("left behind", set(after.split()) ^ set(before.split())), \
            ("koord-scheduler was refused", refusals):
        for item in sorted(what):
            print(f"{problem}: {item}")
            status = status or 1
    return status


def main(koord, scheduler, *names):
    paths = []
    for name in names or FOLDERS:
        path = SCENARIOS / name
        paths += sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
    # A node that nobody speaks for is not to become NotReady while a scenario runs.
    flags = {"kube-controller-manager": ["--node-monitor-grace-period=1h"]}
    with Cluster(controller_manager=True, arguments=flags) as cluster:
        return run(cluster, koord, scheduler, paths)


if __name__ == "__main__":
    exit_on_sigterm()
    try:
        sys.exit(main(*sys.argv[1:]))
    except ClusterError as error:
        sys.exit(f"scenarios_test.py: {error}")
