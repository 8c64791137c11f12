#!/usr/bin/env python3
"""Scenarios on real Kubernetes, with koord-scheduler as its only scheduler.

    tests/kubernetes/scenarios_test.py build/bin/koord build/bin/koord-scheduler [FILE...]

koord-scheduler runs as a process of its own, as the service account and with the rights of
deploy/scheduler/rbac.yaml. There is no kubelet: a thread of this test says of bound pods that they
run, and ends them when they are deleted. The scenarios must leave nothing behind.
"""

import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from cluster import REPOSITORY, Cluster, ClusterError, exit_on_sigterm, free_ports

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
DEADLINE_S = 60
STOP_DEADLINE_S = 15
CONFIGURATION = pathlib.Path(__file__).resolve().parent / "scheduler.yaml"
NAMESPACE = "koordinator-system"
LEFT_BEHIND = "nodes,priorityclasses,crds,persistentvolumes,storageclasses"


class Nodes(Kubelet):
    """Runs whatever is bound to any node, and adds none of its own."""

    def add_node(self, name, **spec):
        pass

    def _is_mine(self, pod):
        return bool(pod.get("spec", {}).get("nodeName"))


class Scheduler:
    """koord-scheduler as it is deployed: by token, and with no right but those of its role."""

    def __init__(self, program, cluster):
        self.port, = free_ports(1)
        self.log = cluster.directory / "koord-scheduler.log"
        kubeconfig = self._make_kubeconfig(cluster)
        with open(self.log, "wb") as log:
            self._child = subprocess.Popen(
                [program, f"--config={CONFIGURATION}", f"--kubeconfig={kubeconfig}", "--address=127.0.0.1",
                 f"--port={self.port}", "--secure-port=0", "--v=2"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._child.poll() is None:
            self._child.terminate()
        try:
            self._child.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def stop(self):
        """Ends it as an administrator would; it must hand its lease back and end well."""
        self.__exit__()
        if self._child.returncode != 0:
            raise ClusterError(f"koord-scheduler ended with {self._child.returncode}\n{self.end()}")

    def refusals(self):
        """What the API server forbade it."""
        return sorted(set(re.findall(r".*is forbidden: User.*", self.log.read_text())))

    def end(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])

    def _make_kubeconfig(self, cluster):
        token = cluster.kubectl("create", "token", "koord-scheduler", "-n", NAMESPACE).stdout
        config = json.loads(cluster.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": token.strip()}
        path = cluster.directory / "koord-scheduler.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(json.dumps(config))
        return path

    def _wait(self):
        end = time.monotonic() + DEADLINE_S
        while not self._leads():
            if self._child.poll() is not None or time.monotonic() > end:
                raise ClusterError(f"koord-scheduler does not lead\n{self.end()}")
            time.sleep(0.1)

    def _leads(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/metrics")
            metrics = connection.getresponse().read().decode()
            return 'leader_election_master_status{name="koord-scheduler"} 1' in metrics
        except OSError:
            return False
        finally:
            connection.close()


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


def deploy(cluster):
    cluster.kubectl("apply", "-f", REPOSITORY / "deploy" / "crds")
    cluster.kubectl("create", "namespace", NAMESPACE)
    cluster.kubectl("apply", "-f", REPOSITORY / "deploy" / "scheduler")


def run(cluster, koord, scheduler, paths):
    deploy(cluster)
    left = "get", LEFT_BEHIND, "-o", "name"
    before = cluster.kubectl(*left).stdout
    api = Api(cluster.kubeconfig, cluster.directory)
    nodes = Nodes(api, "none")
    nodes.start()
    with Scheduler(scheduler, cluster) as running:
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
