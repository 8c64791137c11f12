#!/usr/bin/python3
"""koord-scheduler as processes beside a local cluster that has no scheduler of its own.

    tests/clients/scheduler_process_test.py build/bin/koord build/bin/koord-scheduler
"""

import collections
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from harness import program  # noqa: E402
from harness.api import Api  # noqa: E402
from run import LocalCluster  # noqa: E402

DEADLINE_S = 120
PODS = 400
NAMESPACE = "koordinator-system"
# Short, so that a fail-over takes seconds.
ELECTION = ["--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s",
            "--leader-elect-retry-period=200ms"]


def pod(name, cpu="100m", more=None, **spec):
    amounts = {"cpu": cpu, **(more or {})}
    container = {"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [container], **spec}}


def wait_until(condition, what):
    program.wait_until(condition, what, DEADLINE_S)


class Scheduler:
    """A running koord-scheduler."""

    def __init__(self, binary, directory, kubeconfig, arguments=()):
        self.port = program.free_port()
        self.log = directory / f"scheduler-{self.port}.log"
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [binary, f"--kubeconfig={kubeconfig}", f"--port={self.port}", "--secure-port=0",
                 "--address=127.0.0.1", "--kube-api-qps=1000", "--kube-api-burst=2000", "--v=2",
                 *ELECTION, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def get(self, path, method="GET", body=None):
        return program.ask(self.port, path, method, body)

    def leads(self):
        return "leader_election_master_status{name=\"koord-scheduler\"} 1" in self.get("/metrics")[1]

    def ready(self):
        return self.get("/readyz")[0] == 200

    def end(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()


class SchedulerProcess(unittest.TestCase):
    koord = scheduler = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="koord-scheduler-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.cluster = self.enterContext(LocalCluster(
            self.koord, self.directory, ("--nodes", "20", "--load", "flat", "--without", "scheduler")))
        self.api = Api(self.cluster.kubeconfig, self.directory)
        namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": NAMESPACE}}
        self.assertIn(self.api.try_create(namespace).status, (201, 409))

    def start(self, *arguments):
        started = Scheduler(self.scheduler, self.directory, self.cluster.kubeconfig, arguments)
        self.addCleanup(started.end)
        return started

    def pods(self):
        items = self.api.get("Pod", namespace="default")["items"]
        return {item["metadata"]["name"]: item for item in items}

    def bound(self):
        return [name for name, item in self.pods().items() if item["spec"].get("nodeName")]

    def test_places_pods_answers_and_stops(self):
        scheduler = self.start("--leader-elect=true", "-s", "2")
        wait_until(lambda: scheduler.ready() and scheduler.get("/apis/v1/__services__")[0] == 200,
                   "it leads")
        self.assertEqual(scheduler.get("/healthz"), (200, "ok"))
        self.assertEqual(scheduler.get("/healthz/leaderElection")[0], 200)
        self.api.create(pod("small"))
        self.api.create(pod("huge", cpu="1000"))
        wait_until(lambda: self.bound() == ["small"], "the pod that fits is bound")

        def explained():
            return json.loads(scheduler.get("/apis/v1/explain/pods/default/huge")[1])
        wait_until(lambda: explained().get("queue", {}).get("pool") == "unschedulable",
                   "the other one waits")
        self.assertEqual(len(explained()["nearestMisses"]), 5)
        bound = [line for line in scheduler.get("/metrics")[1].splitlines()
                 if line.startswith("scheduler_schedule_attempts_total{")
                 and 'result="scheduled"' in line]
        self.assertEqual([line.split()[-1] for line in bound], ["1"])
        self.assertEqual(json.loads(scheduler.get("/configz")[1])["componentconfig"]
                         ["leaderElection"]["leaseDuration"], "4s")
        self.assertEqual(scheduler.get("/debug/flags/f", "PUT", "true"),
                         (200, "successfully set debugFilterFailure to true\n"))

        scheduler.child.send_signal(signal.SIGTERM)
        self.assertEqual(scheduler.child.wait(DEADLINE_S), 0)
        self.assertIn("Top2 scores for Pod: default/small", scheduler.log.read_text())
        lease = self.api.get("Lease", "koord-scheduler", NAMESPACE)
        self.assertFalse(lease["spec"].get("holderIdentity"), "it is handed back")

    def test_another_takes_over_when_the_leader_is_killed(self):
        replicas = [self.start(), self.start()]
        wait_until(lambda: any(r.leads() for r in replicas) and all(r.ready() for r in replicas),
                   "one leads and both know the cluster")
        leader = next(r for r in replicas if r.leads())
        standby = next(r for r in replicas if r is not leader)
        self.assertEqual(standby.get("/apis/v1/__services__"),
                         (503, '{"message":"the instance is not leader"}'))
        seen, done = collections.defaultdict(set), threading.Event()

        def watch():  # every node that a pod was ever seen on
            try:
                for event in self.api.watch("/api/v1/namespaces/default/pods", {}, DEADLINE_S):
                    item = event["object"]
                    if item["spec"].get("nodeName"):
                        seen[item["metadata"]["name"]].add(item["spec"]["nodeName"])
                    if len(seen) == PODS:
                        break
            finally:
                done.set()
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        for number in range(PODS):
            self.api.create(pod(f"p{number:03}"))
            if number == PODS // 3:
                leader.child.send_signal(signal.SIGKILL)
        self.assertTrue(done.wait(DEADLINE_S))
        wait_until(lambda: len(self.bound()) == PODS, "all pods are bound")
        self.assertTrue(standby.leads())
        self.assertEqual({name: nodes for name, nodes in seen.items() if len(nodes) != 1}, {})
        self.assertEqual(len(seen), PODS)
        standby.child.send_signal(signal.SIGTERM)
        self.assertEqual(standby.child.wait(DEADLINE_S), 0)

    def test_start_up_errors(self):
        config = self.directory / "bad.yaml"
        config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\n"
                          "kind: KubeSchedulerConfiguration\npodInitialBackoffSeconds: 0\n")
        done = subprocess.run([self.scheduler, f"--config={config}"], text=True,
                              stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 1)
        for part in (f"{config}:3", "podInitialBackoffSeconds", "0", "1"):
            self.assertIn(part, done.stderr)


class Explain(unittest.TestCase):
    koord = None

    def test_explains_pods_of_the_local_cluster(self):
        with tempfile.TemporaryDirectory(prefix="koord-explain-") as temporary:
            directory = pathlib.Path(temporary)
            with LocalCluster(self.koord, directory, ("--nodes", "3")) as cluster:
                api = Api(cluster.kubeconfig, directory)
                api.create(pod("small"))
                api.create(pod("gpu", more={"example.com/gpu": "1"}))

                def run(*arguments):
                    return subprocess.run(
                        [self.koord, "explain", "pod", "--kubeconfig", cluster.kubeconfig,
                         *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        timeout=DEADLINE_S)
                wait_until(lambda: "Bound" in run("default/small").stdout, "the pod is bound")
                wait_until(lambda: "unschedulable" in run("default/gpu").stdout, "the other waits")
                text = run("gpu", "-n", "default").stdout
                for part in ("NodeResourcesFit removed 3", "3 Insufficient example.com/gpu: ",
                             "Nearest misses", "-0 lacks 1 example.com/gpu", "moved by: NodeAdd"):
                    self.assertIn(part, text)
                self.assertTrue(all(len(line) <= 100 for line in text.splitlines()), text)
                small = json.loads(run("default/small", "-o", "json").stdout)
                self.assertEqual(small["decided"]["feasible"], 3)
                self.assertIn("state: Bound", run("default/small", "-o", "yaml").stdout)
                missing = run("default/none")
                self.assertEqual(missing.returncode, 1)
                self.assertIn("cannot find pod default/none", missing.stderr)


if __name__ == "__main__":
    SchedulerProcess.koord = Explain.koord = sys.argv.pop(1)
    SchedulerProcess.scheduler = sys.argv.pop(1)
    unittest.main()
