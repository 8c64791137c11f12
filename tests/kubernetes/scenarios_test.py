#!/usr/bin/env python3
"""Scenarios on real Kubernetes, with koord-scheduler as its only scheduler.

    tests/kubernetes/scenarios_test.py build/bin [FILE...]

koord-scheduler, and koord-manager for scenarios about it, run as processes of their own, as the
service accounts and with the rights of deploy/. There is no kubelet: a thread of this test says of
bound pods that they run, and ends them when they are deleted. The scenarios must leave nothing
behind.

Most of the time scenarios wait for time to pass, and each wants a cluster's nodes for itself:
without files, all are shared among several clusters, each with a process of this program.
"""

import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile

from cluster import REPOSITORY, Cluster, ClusterError, exit_on_sigterm
from programs import Manager, Scheduler, deploy

sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

from harness.api import Api  # noqa: E402
from harness.kubelet import Kubelet  # noqa: E402

SCENARIOS = REPOSITORY / "tests" / "scenarios"
CLUSTERS = 3
SKIPPED_FILES = {
    "scheduler/queue.yaml": "it is about time, and would take minutes",
}
# By name.
SKIPPED = {
    "the short form reserves for pods that name it, by annotation or by label":
        "clusters serve v1 of Reservations by request only",
    "init containers, sidecars and overhead count as they run":
        "Kubernetes takes a pod's overhead from a RuntimeClass only",
    "pods that have ended leave their room to others":
        "nobody ends pods by themselves here",
    "a quota that is needed is not deleted":
        "quotas of the scenario before may still have the names that it uses",
    "a budget may let unhealthy pods go":
        "all pods are healthy here",
    "a node refuses a bound pod that does not fit":
        "there is no kubelet that refuses",
    "a claim whose volume is lost holds the pod up":
        "Kubernetes' volume controller decides by itself whether a claim is lost",
    "an ephemeral volume needs its claim first":
        "Kubernetes' controller may have made the claim before the scheduler looks",
    "a volume to be made is asked for on the chosen node, within the topology of its class":
        "nobody makes the volume here",
}
# By what they say.
SKIPPED_TEXTS = {
    r"\btimes: ": "it counts events, of which the cluster's own controllers cause more",
    r"\bnamespace: (default|kube-system)\b":
        "it names a namespace; on a live cluster it has one of its own",
    r"\b2026-07-01T": "it says what time it is",
    r"\badvance: \d+[mh]": "it is about time, and would take minutes",
}
LEFT_BEHIND = "nodes,priorityclasses,crds,persistentvolumes,storageclasses,reservations"


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
        documents = re.split(r"^---$\n", path.read_text(), flags=re.MULTILINE)
        background = [documents.pop(0)] if re.search(r"^background:", documents[0], re.MULTILINE) else []
        for document in documents:
            name = re.search(r"^name: *(.*?)\s*$", document, flags=re.MULTILINE)[1].strip("\"'")
            if reason := why_not(path, name, "".join(background) + document):
                print(f"SKIP {path.relative_to(SCENARIOS)} {name}\n     {reason}")
            else:
                kept.append(document)
        if not kept:
            continue
        copy = folder / path.relative_to(SCENARIOS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("---\n".join(background + kept))
        copies.append(copy)
    sys.stdout.flush()
    return copies


def is_about_manager(path):
    return bool(re.search(r"^ *config: *{manager:", path.read_text(), flags=re.MULTILINE))


def run(cluster, binaries, programs, paths):
    left = "get", LEFT_BEHIND, "-o", "name"
    before = cluster.kubectl(*left).stdout
    folder = cluster.directory / "scenarios"
    copies = [copy.relative_to(folder) for copy in without_skipped(paths, folder)]
    status = subprocess.run([binaries / "koord", "test", "--kubeconfig", cluster.kubeconfig,
                             *copies], cwd=folder).returncode if copies else 0
    cluster.kubectl("wait", "--for=delete", "namespace", "--timeout=600s",
                    "-l", "app.kubernetes.io/managed-by=koord-test")
    after = cluster.kubectl(*left).stdout
    problems = [f"left behind: {item}" for item in set(after.split()) ^ set(before.split())]
    for program in programs:
        program.stop()
        problems += [f"{program.name} was refused: {text}" for text in program.refusals()]
    for problem in sorted(problems):
        print(problem)
    return status or bool(problems)


def run_here(binaries, paths):
    with contextlib.ExitStack() as running:
        # A node that nobody speaks for is not to become NotReady while a scenario runs.
        cluster = running.enter_context(Cluster(controller_manager=True, arguments={
            "kube-controller-manager": ["--node-monitor-grace-period=1h"]}))
        has_manager = any(map(is_about_manager, paths))
        deploy(cluster, webhooks=has_manager)
        nodes = Nodes(Api(cluster.kubeconfig, cluster.directory), "none")
        nodes.start()
        running.callback(nodes.stop)
        programs = [Scheduler(binaries / "koord-scheduler", cluster)]
        programs += [Manager(binaries / "koord-manager", cluster)] if has_manager else []
        for program in programs:
            running.enter_context(program)
            program.wait_until_leading()
        if has_manager:
            programs[-1].wait_until_asked()
        return run(cluster, binaries, programs, paths)


def shares():
    """All scenario files in groups that take about the same time, those about the manager apart."""
    groups, about_manager = [[] for _ in range(CLUSTERS - 1)], []
    for path in sorted(SCENARIOS.rglob("*.yaml"), key=seconds, reverse=True):
        if is_about_manager(path):
            about_manager.append(path)
        else:
            min(groups, key=lambda group: sum(map(seconds, group))).append(path)
    return [about_manager, *groups]


def seconds(path):
    """How long the scenarios of a file take, about."""
    text = path.read_text()
    passing = sum(map(int, re.findall(r"\badvance: (\d+)s", text)))
    return len(re.findall("^name:", text, flags=re.MULTILINE)) + passing


@contextlib.contextmanager
def process(binaries, paths):
    """Runs the files in a process; yields it and the file that it prints to."""
    with tempfile.TemporaryFile("w+") as output, subprocess.Popen(
            [__file__, binaries, *paths], stdout=output, stderr=output) as child:
        try:
            yield child, output
        finally:
            child.terminate()  # does nothing to one that has ended


def run_shares(binaries):
    status, passed, failed, skipped = 0, 0, 0, 0
    with contextlib.ExitStack() as running:
        children = [running.enter_context(process(binaries, share)) for share in shares()]
        running.callback(lambda: [child.terminate() for child, _ in children])  # all at once
        for child, output in children:
            status = max(status, abs(child.wait()))
            output.seek(0)
            text = output.read()
            print(text, end="", flush=True)
            if numbers := re.search(r"^(\d+) passed, (\d+) failed", text, flags=re.MULTILINE):
                passed += int(numbers[1])
                failed += int(numbers[2])
            skipped += len(re.findall("^SKIP ", text, flags=re.MULTILINE))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return status


def main(binaries, *names):
    binaries = pathlib.Path(binaries).absolute()
    if not names:
        return run_shares(binaries)
    paths = []
    for name in names:
        path = SCENARIOS / name
        paths += sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
    return run_here(binaries, paths)


if __name__ == "__main__":
    exit_on_sigterm()
    try:
        sys.exit(main(*sys.argv[1:]))
    except ClusterError as error:
        sys.exit(f"scenarios_test.py: {error}")
