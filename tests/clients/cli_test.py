#!/usr/bin/python3
"""koord's own commands as a user runs them: explain and validate.

    tests/clients/cli_test.py build/bin/koord
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from harness import program  # noqa: E402
from harness.api import Api  # noqa: E402
from run import LocalCluster  # noqa: E402

DEADLINE_S = 120
CONFIG = {
    "apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "slo-controller-config", "namespace": "koordinator-system"},
    "data": {"colocation-config": json.dumps({"enable": True, "cpuReclaimThresholdPercent": 70})},
}
PROFILE = """apiVersion: config.koordinator.sh/v1alpha1
kind: ClusterColocationProfile
metadata: {name: batch}
spec:
  selector: {matchLabels: {app: spark}}
  qosClass: BE
  priorityClassName: koord-batch
"""
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: spark}
spec:
  template:
    metadata: {labels: {app: spark}}
    spec:
      restartPolicy: Never
      containers:
      - name: c
        image: i
        resources: {requests: {cpu: 1500m, memory: 2Gi}}
"""


class Cli(unittest.TestCase):
    koord = None

    def run_koord(self, *arguments, text=None):
        return subprocess.run([self.koord, *arguments], text=True, input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)

    def test_explains_nodes_of_the_local_cluster(self):
        with tempfile.TemporaryDirectory(prefix="koord-cli-") as temporary:
            directory = pathlib.Path(temporary)
            with LocalCluster(self.koord, directory, ("--nodes", "1", "--speed", "30")) as cluster:
                api = Api(cluster.kubeconfig, directory)
                node = api.request("GET", "/api/v1/nodes").json()["items"][0]["metadata"]["name"]

                def explain(*arguments):
                    return self.run_koord("explain", "node", "--kubeconfig", cluster.kubeconfig,
                                          *arguments)
                off = explain(node, "--resource", "batch-cpu")
                self.assertIn("Nothing is lent: co-location is off for this node.", off.stdout)
                self.assertIn('Next: set "enable": true in colocation-config', off.stdout)
                api.try_create({"apiVersion": "v1", "kind": "Namespace",
                                "metadata": {"name": "koordinator-system"}})
                api.create(CONFIG)
                program.wait_until(
                    lambda: "batch-cpu = capacity - margin" in explain(node).stdout,
                    "batch resources are lent", DEADLINE_S)
                text = explain(node, "--resource", "kubernetes.io/batch-cpu").stdout
                self.assertIn("<- cpuReclaimThresholdPercent = 70 (colocation-config)", text)
                one = json.loads(explain(node, "--resource", "mid-memory", "-o", "json").stdout)
                self.assertEqual(one["resource"], "kubernetes.io/mid-memory")
                self.assertEqual(len(json.loads(explain(node, "-o", "json").stdout)), 4)
                missing = explain(node[:-1] + "z", "--resource", "batch-cpu")
                self.assertEqual(missing.returncode, 1)
                self.assertIn(f"Did you mean {node}?", missing.stderr)
                self.assertEqual(explain(node, "--resource", "cpu").returncode, 2)

    def test_says_that_there_is_no_manager(self):
        with tempfile.TemporaryDirectory(prefix="koord-cli-") as temporary:
            directory = pathlib.Path(temporary)
            with LocalCluster(self.koord, directory,
                              ("--nodes", "1", "--without", "manager")) as cluster:
                done = self.run_koord("explain", "node", "x", "--kubeconfig", cluster.kubeconfig)
                self.assertEqual(done.returncode, 3)
                self.assertIn("koord-manager does not answer", done.stderr)

    def test_explains_profiles_without_a_cluster(self):
        with tempfile.TemporaryDirectory(prefix="koord-cli-") as temporary:
            directory = pathlib.Path(temporary)
            (directory / "profile.yaml").write_text(PROFILE)
            done = self.run_koord("explain", "profile", "--pod", "-", "-f", temporary, text=JOB)
            self.assertEqual(done.returncode, 0, done.stderr)
            for part in ("batch: matches", "selector: app=spark holds: the pod has app=spark",
                         "+    koordinator.sh/qosClass: BE", "+  priority: 5000",
                         '-        cpu: 1500m', 'kubernetes.io/batch-cpu: "1500"',
                         "node.koordinator.sh/extended-resource-spec"):
                self.assertIn(part, done.stdout)
            self.assertNotIn("\x1b", done.stdout)
            answer = json.loads(self.run_koord("explain", "profile", "--pod", "-", "-f", temporary,
                                               "-o", "json", text=JOB).stdout)
            self.assertTrue(answer["profiles"][0]["matches"])
            self.assertEqual(self.run_koord("explain", "profile", "--pod", "-", "-f", temporary,
                                            text=PROFILE).returncode, 2)

    def test_validates(self):
        good = self.run_koord("validate", "-f", "-", text=PROFILE + "---\n" + JOB)
        self.assertEqual((good.returncode, good.stdout), (0, ""), good.stdout)
        bad = self.run_koord("validate", "-f", "-", text=PROFILE.replace("qosClass", "qosClas"))
        self.assertEqual(bad.returncode, 1)
        self.assertEqual(bad.stdout, "<stdin>:6: error: spec.qosClas: unknown field "
                                     "(did you mean qosClass?)\n")
        self.assertEqual(bad.stderr, "1 file: 1 error, 0 warnings\n")
        found = json.loads(self.run_koord("validate", "-f", "-", "-o", "json",
                                          text=PROFILE.replace("BE", "LSR")).stdout)
        self.assertEqual(found[0]["severity"], "error")
        self.assertEqual(found[0]["path"], "spec.qosClass")
        self.assertEqual(self.run_koord("validate", "-f", "/no/such/file").returncode, 2)
        ours = self.run_koord("validate", "-f", str(FOLDER.parents[1] / "deploy"))
        self.assertEqual((ours.returncode, ours.stdout), (0, ""))

    def test_completes(self):
        script = self.run_koord("completion", "bash").stdout
        done = subprocess.run(["bash", "-c", script + """
            COMP_WORDS=(koord explain ''); COMP_CWORD=2; _koord; echo "${COMPREPLY[@]}"
            COMP_WORDS=(koord explain node --res); COMP_CWORD=3; _koord; echo "${COMPREPLY[@]}"
            COMP_WORDS=(koord validate --f); COMP_CWORD=2; _koord; echo "${COMPREPLY[@]}"
            """], text=True, stdout=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual(done.stdout.split("\n")[:3],
                         ["pod node profile", "--resource", "--filename"])


if __name__ == "__main__":
    Cli.koord = sys.argv.pop(1)
    unittest.main()
