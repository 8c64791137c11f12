#!/usr/bin/python3
"""What `koord up` promises beyond the API: it is ready when it says so, nothing is lost when it is
killed, and what it cannot do it says.

    tests/clients/local_cluster_test.py build/bin/koord
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from harness import program  # noqa: E402
from harness.api import Api  # noqa: E402
from harness.kubectl import Kubectl  # noqa: E402
from run import LocalCluster, debian_kubectl  # noqa: E402

DEADLINE_S = 300
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap",
          "metadata": {"name": "slo-controller-config", "namespace": "koordinator-system"}}
QUOTA = {"apiVersion": "v1", "kind": "ResourceQuota",
         "metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"pods": "2"}}}
SIMULATED = "the nodes of the local cluster are simulated and run no containers"


def wait_until(condition, what):
    return program.wait_until(condition, what, DEADLINE_S)[0]


def pod(name, containers=("c",)):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [{"name": each, "image": "i"} for each in containers]}}


class LocalClusterTest(unittest.TestCase):
    koord = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="koord-local-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def up(self, *arguments, in_memory=True):
        cluster = LocalCluster(self.koord, self.directory, arguments, in_memory)
        self.addCleanup(cluster.__exit__)
        cluster.__enter__()
        self.api = Api(cluster.kubeconfig, self.directory)
        self.kubectl = Kubectl(debian_kubectl(), cluster.kubeconfig, self.directory)
        return cluster

    def test_ready_means_usable(self):
        self.up("--nodes", "30")
        nodes = self.api.get("Node")["items"]
        self.assertEqual(len(nodes), 30)
        for node in nodes:
            ready = [c for c in node["status"]["conditions"] if c["type"] == "Ready"]
            self.assertEqual(ready[0]["status"], "True")
        values = {item["metadata"]["name"]: item["value"]
                  for item in self.api.get("PriorityClass")["items"]}
        self.assertEqual([values.get("koord-" + name) for name in ("prod", "mid", "batch", "free")],
                         [9000, 7000, 5000, 3000])
        self.assertTrue(self.api.exists("ServiceAccount", "default", "default"))
        self.api.create(pod("p"))  # at once, by webhooks that answer
        wait_until(lambda: self.api.get("Pod", "p", "default")["status"].get("phase") == "Running",
                   "the pod runs")

    def test_nothing_is_lost_when_it_is_killed(self):
        first = self.up("--nodes", "1", in_memory=False)
        self.api.patch(CONFIG, {"data": {"colocation-config": '{"enable": false}'}})
        self.api.delete({"kind": "PriorityClass", "metadata": {"name": "koord-free"}})
        self.api.create(QUOTA)
        self.api.create(pod("a"))
        first.__exit__()  # kill -9
        self.up("--nodes", "1", in_memory=False)
        self.assertEqual(self.api.get("ConfigMap", "slo-controller-config", "koordinator-system")
                         ["data"]["colocation-config"], '{"enable": false}')
        self.assertTrue(self.api.exists("PriorityClass", "koord-free"), "what is absent comes back")
        self.api.create(pod("b"))
        wait_until(lambda: self.api.get("ResourceQuota", "q", "default")["status"]["used"] ==
                   {"pods": "2"}, "both pods count")
        self.api.try_create(pod("c")).rejects(
            403, 'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, '
                 "limited: pods=2")
        self.api.delete(pod("a"), {"gracePeriodSeconds": 0})
        wait_until(lambda: self.api.try_create(pod("c")).status == 201, "there is room again")

    def test_kubectl_says_why_there_are_no_containers(self):
        self.up("--nodes", "1")
        self.api.create(pod("p"))
        wait_until(lambda: self.api.get("Pod", "p", "default")["status"].get("phase") == "Running",
                   "the pod runs")
        for arguments, complaint in (
                (["logs", "p"], 'pod "p" has no logs: '),
                (["exec", "p", "--", "ls"], 'pod "p" has nothing to execute a command in: '),
                (["attach", "p"], 'pod "p" has nothing to attach to: '),
                (["port-forward", "pod/p", ":80"], 'pod "p" has no ports: '),
                (["cp", "p:/etc/passwd", str(self.directory / "copy")],
                 'pod "p" has nothing to execute a command in: ')):
            failed = self.kubectl.run(arguments)
            failed.exits(1)
            self.assertIn(complaint + SIMULATED, failed.stdout + failed.stderr, arguments)

    def test_kubectl_top(self):
        self.up("--nodes", "2", "--speed", "60", "--load", "flat=0.5")
        self.api.create(pod("p", ("a", "b")))

        def top(*arguments):
            return self.kubectl.run(["top", *arguments, "--no-headers"]).stdout.splitlines()
        def measured(row):
            return re.match(r"node-\d+ +\d+m +\d+% +\d+Mi +\d+%", row)
        wait_until(lambda: len(list(filter(measured, top("nodes")))) == 2, "nodes are measured")
        wait_until(lambda: top("pods"), "the pod is measured")
        self.assertRegex(top("pods")[0], r"^p +\d+m +\d+Mi")
        self.assertRegex(top("pods", "--containers")[0], r"^p +a,b +")

    def test_status_tells_that_usage_is_unknown(self):
        cluster = self.up("--nodes", "1", "--without", "koordlet")
        shown = subprocess.run(
            [self.koord, "status", "--kubeconfig", cluster.kubeconfig, "-o", "json"], text=True,
            stdout=subprocess.PIPE, timeout=DEADLINE_S, check=True)
        self.assertIsNone(json.loads(shown.stdout)["used"])
        shown = subprocess.run([self.koord, "status", "--kubeconfig", cluster.kubeconfig], text=True,
                               stdout=subprocess.PIPE, timeout=DEADLINE_S, check=True)
        self.assertIn("] used unknown, asked ", shown.stdout)
        self.assertNotIn("settings of", shown.stdout)
        self.api.delete({"kind": "CustomResourceDefinition",
                         "metadata": {"name": "nodemetrics.slo.koordinator.sh"}})

        def status():
            return subprocess.run([self.koord, "status", "--kubeconfig", cluster.kubeconfig],
                                  text=True, stdout=subprocess.PIPE, timeout=DEADLINE_S).stdout
        wait_until(lambda: "usage  unknown: there is no kind NodeMetric; deploy/crds defines it\n"
                   in status(), "it says why")

    def test_status_tells_what_has_no_effect(self):
        cluster = self.up("--nodes", "1", "--manager-flag=--feature-gates=PriorityTransformer=true")
        shown = subprocess.run([self.koord, "status", "--kubeconfig", cluster.kubeconfig], text=True,
                               stdout=subprocess.PIPE, timeout=DEADLINE_S, check=True)
        self.assertIn("settings of koord-manager: feature gate PriorityTransformer=true has no "
                      "effect in this version\n", shown.stdout)


if __name__ == "__main__":
    LocalClusterTest.koord = sys.argv.pop(1)
    unittest.main(warnings="ignore")  # connections end with the process
