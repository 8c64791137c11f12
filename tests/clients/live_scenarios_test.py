#!/usr/bin/python3
"""`koord test --kubeconfig` on a local cluster that runs in real time.

    tests/clients/live_scenarios_test.py build/bin/koord
"""

import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
SCENARIOS = FOLDER.parent / "scenarios"
sys.path.insert(0, str(FOLDER))

from harness.api import Api  # noqa: E402
from run import LocalCluster  # noqa: E402

DEADLINE_S = 300
PASSES = "name: passes\nwhen: [create: {kind: ConfigMap, metadata: {name: c}}]\n" \
         "then: [get: {kind: ConfigMap, name: c}]\n"
WAITS = "name: waits\ngiven:\n" \
        "  - {kind: PriorityClass, metadata: {name: live-class}, value: 1}\n" \
        "  - {kind: ConfigMap, metadata: {name: c, finalizers: [example.com/hold]}}\n" \
        "when: [advance: 90s]\nthen: [absent: {kind: ConfigMap, name: x}]\n"


class LiveScenarios(unittest.TestCase):
    program = None
    nodes = ("--nodes", "0", "--adopt-nodes", "--without", "manager")

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="koord-live-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.directory = pathlib.Path(cls.temporary.name)
        cls.cluster = cls.enterClassContext(LocalCluster(cls.program, cls.directory, cls.nodes))
        cls.api = Api(cls.cluster.kubeconfig, cls.directory)

    def command(self, *paths):
        return [self.program, "test", "--kubeconfig", self.cluster.kubeconfig, *paths]

    def koord_test(self, *paths, code=0):
        done = subprocess.run(self.command(*paths), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=4 * DEADLINE_S)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def file(self, text):
        path = self.directory / "scenario.yaml"
        path.write_text(text)
        return path

    def names(self, kind):
        return {item["metadata"]["name"] for item in self.api.get(kind)["items"]}

    def cluster_scoped(self):
        kinds = ("Node", "PriorityClass", "CustomResourceDefinition")
        return {kind: self.names(kind) for kind in kinds}

    def expect_clean(self, before):
        self.assertEqual(self.cluster_scoped(), before)
        end = time.monotonic() + DEADLINE_S
        while left := {n for n in self.names("Namespace") if n.startswith("koord-")}:
            self.assertLess(time.monotonic(), end, f"still there: {left}")
            time.sleep(0.05)


class WithoutNodes(LiveScenarios):
    def test_what_holds_on_every_cluster(self):
        before = self.cluster_scoped()
        printed = self.koord_test(SCENARIOS / "api")
        self.assertNotIn("SKIP", printed)
        self.expect_clean(before)

    def test_nodes_that_a_scenario_brings(self):
        before = self.cluster_scoped()
        printed = self.koord_test(self.file(
            "name: runs\ngiven:\n  - kind: Node\n    metadata: {name: live-a}\n"
            '    status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}\n'
            "when: [create: {kind: Pod, metadata: {name: p}}]\n"
            "then:\n  - get: {kind: Pod, name: p}\n"
            "    match: {spec: {nodeName: live-a}, status: {phase: Running}}\n"))
        self.assertIn("1 passed, 0 failed in", printed)
        self.expect_clean(before)


class WithNodes(LiveScenarios):
    nodes = ("--nodes", "2")

    def test_says_why_it_skips(self):
        printed = self.koord_test(SCENARIOS / "scheduler" / "node_unschedulable.yaml", self.file(
            PASSES + "---\nname: slow\nwhen: [advance: 1h]\n"
            "then: [absent: {kind: Pod, name: p}]\n"
            "---\nname: set up\nconfig: {scheduler: {}}\nthen: [absent: {kind: Pod, name: p}]\n"))
        self.assertIn("but the cluster has nodes already", printed)
        self.assertIn("it lets 1h0m0s pass; in real time at most 2m0s are waited for", printed)
        self.assertIn("it configures the scheduler", printed)
        self.assertRegex(printed, r"1 passed, 0 failed, [1-9]\d* skipped")

    def test_cleans_up_after_a_failure(self):
        before = self.cluster_scoped()
        printed = self.koord_test(self.file(
            "name: fails\ngiven: [{kind: PriorityClass, metadata: {name: live-class}, value: 1}]\n"
            "when:\n  - create: {kind: ConfigMap, metadata: {name: c}}\n    error: never\n"
            "then: [absent: {kind: Pod, name: p}]\n"), code=1)
        self.assertIn("+ found    (accepted)", printed)
        self.expect_clean(before)

    def test_leaves_what_others_made_alone(self):
        before = self.cluster_scoped()
        self.api.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                         "metadata": {"name": "theirs"}, "value": 3})
        self.addCleanup(self.api.delete, {"kind": "PriorityClass", "metadata": {"name": "theirs"}})
        theirs = "{kind: PriorityClass, name: theirs"
        for step in (f"delete: {theirs}}}", f"patch: {theirs}, merge: {{description: mine}}}}",
                     "apply: {kind: PriorityClass, metadata: {name: theirs}, value: 3}",
                     "create: {kind: ConfigMap, metadata: {name: c, namespace: kube-system}}"):
            printed = self.koord_test(self.file(
                f"name: meddles\nwhen: [{step}]\nthen: [absent: {{kind: Pod, name: p}}]\n"), code=3)
            self.assertIn("was not made by this scenario", printed)
        kept = self.api.get("PriorityClass", "theirs")
        self.assertNotIn("description", kept)
        before["PriorityClass"].add("theirs")
        self.expect_clean(before)

    def test_cleans_up_when_interrupted(self):
        before = self.cluster_scoped()
        child = subprocess.Popen(self.command(self.file(WAITS)), text=True, stdout=subprocess.PIPE)
        end = time.monotonic() + DEADLINE_S
        while "live-class" not in self.names("PriorityClass"):
            self.assertLess(time.monotonic(), end, "the scenario has not begun")
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        printed, _ = child.communicate(timeout=DEADLINE_S)
        self.assertEqual(child.returncode, 130, printed)
        self.assertIn("interrupted", printed)
        self.expect_clean(before)

    def test_a_cluster_that_nobody_runs(self):
        nowhere = self.directory / "nowhere"
        kubeconfig = self.cluster.kubeconfig.read_text()
        nowhere.write_text(kubeconfig.replace(f":{self.api.server.port}", ":1"))
        done = subprocess.run([self.program, "test", "--kubeconfig", nowhere, self.file(PASSES)],
                              text=True, stdout=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("could not run", done.stdout)


del LiveScenarios  # the base of the two, no test of its own


def main():
    WithoutNodes.program = WithNodes.program = sys.argv.pop(1)
    unittest.main(verbosity=2, warnings="ignore")  # connections end with the process


if __name__ == "__main__":
    main()
