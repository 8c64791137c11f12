#!/usr/bin/env python3
"""deploy/ on a real cluster, by kustomize and by Helm: everything starts and does its work.

    tests/kubernetes/deploy_test.py build/bin

The programs run as pods, from images of theirs and with the accounts of deploy/. There is no proxy
for services here, so an overlay puts the pods on the host's network and tells them where the API
server is; nothing else is changed.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

from cluster import REPOSITORY, Cluster, ClusterError, build_programs, exit_on_sigterm
from image import BUSYBOX, program_files
from machine import why_impossible
from node import Node
from programs import NAMESPACE
from report import Report

DEPLOY = REPOSITORY / "deploy"
CHART = DEPLOY / "helm" / "koordinator"
DEADLINE_S = 300
WORKLOADS = ["deployment/koord-scheduler", "deployment/koord-manager", "daemonset/koordlet"]
KINDS = "clusterroles,clusterrolebindings,crds,priorityclasses,mutatingwebhookconfigurations," \
        "validatingwebhookconfigurations"


class Installation:
    def __init__(self, cluster, node):
        self.cluster, self.node = cluster, node
        self.helm = build_programs(["helm"]) / "helm"
        self.overlay = cluster.directory / "overlay"
        self.overlay.mkdir()

    def write_overlay(self, resources):
        """Wraps `resources`, files in the overlay's directory or bases."""
        environment = [
            {"name": "KUBERNETES_SERVICE_HOST", "value": "127.0.0.1"},
            {"name": "KUBERNETES_SERVICE_PORT", "value": str(self.cluster.port)},
            {"name": "WEBHOOK_HOST", "value": "127.0.0.1"}]
        add = [{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": variable}
               for variable in environment]
        empty = [{"op": "add", "path": "/spec/template/spec/containers/0/env", "value": []}]
        # What root does not have here, no container can get.
        lacking = [{"op": "replace",
                    "path": "/spec/template/spec/containers/0/securityContext/capabilities/add",
                    "value": koordlet_capabilities()}]
        host = [{"op": "add", "path": "/spec/template/spec/hostNetwork", "value": True},
                {"op": "replace", "path": "/spec/replicas", "value": 1}]
        (self.overlay / "kustomization.yaml").write_text(json.dumps({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
            "resources": resources,
            "patches": [
                {"target": {"kind": "DaemonSet", "name": "koordlet"}, "patch": json.dumps(
                    add + lacking)},
                {"target": {"kind": "Deployment", "name": "koord-manager"},
                 "patch": json.dumps(add + host)},
                {"target": {"kind": "Deployment", "name": "koord-scheduler"},
                 "patch": json.dumps(empty + add + host)}]}))

    def check_work(self):
        for workload in WORKLOADS:
            self.cluster.kubectl("rollout", "status", "-n", NAMESPACE, workload,
                                 f"--timeout={DEADLINE_S}s")
        # In a namespace that the webhooks leave out: they are not what is looked at here.
        self.cluster.kubectl("run", "-n", NAMESPACE, "placed", f"--image={BUSYBOX}",
                             "--image-pull-policy=Never", "--restart=Never",
                             '--overrides={"spec": {"schedulerName": "koord-scheduler", '
                             '"terminationGracePeriodSeconds": 0}}')
        self.cluster.kubectl("wait", "-n", NAMESPACE, "--for=condition=Ready", "pod/placed",
                             f"--timeout={DEADLINE_S}s")
        self.cluster.kubectl("delete", "-n", NAMESPACE, "pod", "placed", "--timeout=180s")
        self.cluster.wait("a report of koordlet", self.is_reported, DEADLINE_S)
        self.cluster.wait("batch resources of koord-manager", self.is_lent, DEADLINE_S)

    def is_reported(self):
        metrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
        metric = self.cluster.read(f"{metrics}/{self.node.name}")
        return metric.get("status", {}).get("updateTime")

    def is_lent(self):
        node = self.cluster.read(f"/api/v1/nodes/{self.node.name}")
        return "kubernetes.io/batch-cpu" in node["status"]["allocatable"]

    def explain(self):
        """What to look at after a failure."""
        pods = self.cluster.kubectl("get", "pods", "-A", "-o", "wide", check=False).stdout
        logs = [self.cluster.kubectl("logs", "-n", NAMESPACE, workload, "--tail=15",
                                     check=False).stdout for workload in WORKLOADS]
        return "\n".join([pods, *logs])


def koordlet_capabilities():
    """Those that the DaemonSet asks for, as far as this machine's root has them."""
    bounding = int(re.search(r"CapBnd:\s+(\w+)", pathlib.Path("/proc/self/status").read_text())[1],
                   16)
    numbers = {"DAC_OVERRIDE": 1, "NET_ADMIN": 12, "SYS_PTRACE": 19, "SYS_RESOURCE": 24,
               "PERFMON": 38}
    return [name for name, number in numbers.items() if bounding >> number & 1]


def kustomize_installs(installation):
    base = os.path.relpath(DEPLOY, installation.overlay)
    installation.write_overlay([base])
    installation.cluster.kubectl("apply", "--server-side", "-k", installation.overlay)
    installation.check_work()


def kustomize_uninstalls(installation):
    kubectl = installation.cluster.kubectl
    kubectl("delete", "-k", installation.overlay, "--timeout=300s", "--ignore-not-found")
    left = [name for name in kubectl("get", KINDS, "-o", "name").stdout.split() if "koord" in name]
    if left:
        raise ClusterError(f"left behind: {left}")


def helm_installs(installation):
    renderer = installation.cluster.directory / "post-renderer"
    rendered = installation.overlay / "rendered.yaml"
    kubectl = installation.cluster.binaries / "kubectl"
    installation.write_overlay([rendered.name])
    renderer.write_text(f"#!/bin/sh\ncat >{rendered}\nexec {kubectl} kustomize "
                        f"{installation.overlay}\n")
    renderer.chmod(0o700)
    done = subprocess.run(
        [installation.helm, "install", "koordinator", CHART, f"--post-renderer={renderer}",
         "--set=descheduler.replicas=2"],
        env=installation.cluster.environment(), text=True, capture_output=True)
    if done.returncode != 0:
        raise ClusterError(f"helm install: {done.stderr}")
    if "These values have no effect: descheduler." not in done.stdout:
        raise ClusterError(f"the notes do not say what has no effect: {done.stdout}")
    installation.check_work()


def helm_uninstalls(installation):
    """All goes but CRDs: with them, everything that users have of their kinds would go."""
    done = subprocess.run(
        [installation.helm, "uninstall", "koordinator", f"--timeout={DEADLINE_S}s", "--wait"],
        env=installation.cluster.environment(), text=True, capture_output=True)
    if done.returncode != 0:
        raise ClusterError(f"helm uninstall: {done.stderr}")
    kinds = installation.cluster.kubectl("get", KINDS, "-o", "name").stdout.split()
    left = [name for name in kinds if "koord" in name]
    if not left or any("customresourcedefinition" not in name for name in left):
        raise ClusterError(f"left behind: {left}")


TESTS = [kustomize_installs, kustomize_uninstalls, helm_installs, helm_uninstalls]


def main(binaries):
    report = Report()
    if why := why_impossible():
        report.skip("a node", why)
        return report.end()
    with contextlib.ExitStack() as running:
        cluster = running.enter_context(Cluster(controller_manager=True, scheduler=True))
        node = running.enter_context(Node(cluster))
        for program in ("koord-scheduler", "koord-manager", "koordlet"):
            node.import_image(f"docker.io/koordinator-sh/{program}:v0.1.0",
                              program_files(pathlib.Path(binaries) / program),
                              entrypoint=[f"/{program}"])
        installation = Installation(cluster, node)
        report.run_steps(TESTS, installation, installation.explain)
    return report.end()


if __name__ == "__main__":
    exit_on_sigterm()
    try:
        sys.exit(main(*sys.argv[1:]))
    except ClusterError as error:
        sys.exit(f"deploy_test.py: {error}")
