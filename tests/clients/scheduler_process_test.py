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

DEADLINE_S = 300
PODS = 400
NAMESPACE = "koordinator-system"
# A fail-over takes seconds, and a busy machine does not make a leader late.
ELECTION = ["--leader-elect-lease-duration=20s", "--leader-elect-renew-deadline=15s",
            "--leader-elect-retry-period=200ms"]


def pod(name, cpu="100m", more=None, **spec):
    amounts = {"cpu": cpu, **(more or {})}
    container = {"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [container], **spec}}


def wait_until(condition, what):
    return program.wait_until(condition, what, DEADLINE_S)[0]


class Scheduler:
    """A running koord-scheduler."""

    def __init__(self, binary, directory, cluster, arguments=()):
        self.port, self.secure_port = program.free_port(), program.free_port()
        self.token = cluster.admin_token()
        self.log = directory / f"scheduler-{self.port}.log"
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [binary, f"--kubeconfig={cluster.kubeconfig}", f"--port={self.port}",
                 f"--secure-port={self.secure_port}", "--address=127.0.0.1",
                 "--bind-address=127.0.0.1", "--kube-api-qps=1000", "--kube-api-burst=2000", "--v=2",
                 *ELECTION, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def get(self, path, method="GET", body=None):
        return program.ask_securely(self.secure_port, path, self.token, method, body)

    def leads(self):
        return "leader_election_master_status{name=\"koord-scheduler\"} 1" in self.get("/metrics")[1]

    def ready(self):
        return program.ask(self.port, "/readyz")[0] == 200

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
        started = Scheduler(self.scheduler, self.directory, self.cluster, arguments)
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

        def scheduled():
            return [line.split()[-1] for line in scheduler.get("/metrics")[1].splitlines()
                    if line.startswith("scheduler_schedule_attempts_total{")
                    and 'result="scheduled"' in line]
        wait_until(lambda: scheduled() == ["1"], "the attempt is counted")
        self.assertEqual(json.loads(scheduler.get("/configz")[1])["componentconfig"]
                         ["leaderElection"]["leaseDuration"], "20s")
        self.assertEqual(scheduler.get("/debug/flags/f", "PUT", "true"),
                         (200, "successfully set debugFilterFailure to true\n"))

        scheduler.child.send_signal(signal.SIGTERM)
        self.assertEqual(scheduler.child.wait(DEADLINE_S), 0)
        self.assertIn("Top2 scores for Pod: default/small", scheduler.log.read_text())
        lease = self.api.get("Lease", "koord-scheduler", NAMESPACE)
        self.assertFalse(lease["spec"].get("holderIdentity"), "it is handed back")

    def test_strangers_learn_of_its_health_alone(self):
        scheduler = self.start()
        wait_until(scheduler.leads, "it leads")
        for path, method in (("/metrics", "GET"), ("/apis/v1/__services__", "GET"),
                             ("/configz", "GET"), ("/debug/flags/v", "PUT")):
            plain = program.ask(scheduler.port, path, method, "9" if method == "PUT" else None)
            self.assertEqual(plain[0], 403, path)
            self.assertIn(f"port {scheduler.secure_port}", plain[1])
            wrong = program.ask_securely(scheduler.secure_port, path, "no-such-token", method)
            self.assertEqual(wrong[0], 401, path)
        self.assertEqual(program.ask(scheduler.port, "/healthz"), (200, "ok"))
        self.assertNotIn(scheduler.token, scheduler.log.read_text())
        self.assertNotIn("no-such-token", scheduler.log.read_text())

        opened = self.start("--metrics-without-login")
        wait_until(opened.ready, "it is ready")
        self.assertIn("process_cpu_seconds_total", program.ask(opened.port, "/metrics")[1])
        self.assertEqual(program.ask(opened.port, "/configz")[0], 403)

    def test_explain_asks_a_scheduler_outside_of_the_cluster(self):
        scheduler = self.start()
        secure = scheduler.secure_port
        wait_until(lambda: scheduler.ready() and scheduler.leads(), "it leads")
        self.api.create(pod("huge", cpu="1000"))

        def explain(*arguments):
            return subprocess.run(
                [self.koord, "explain", "pod", "default/huge", "--kubeconfig",
                 self.cluster.kubeconfig, *arguments],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        lost = explain()
        self.assertNotEqual(lost.returncode, 0)
        self.assertIn("koord-scheduler runs outside of the cluster", lost.stderr)
        self.assertIn("--scheduler https://", lost.stderr)

        there = ("--scheduler", f"https://127.0.0.1:{secure}")
        unchecked = explain(*there)
        self.assertNotEqual(unchecked.returncode, 0, "the cluster does not vouch for it")
        self.assertIn(f"does not answer at https://127.0.0.1:{secure}", unchecked.stderr)
        trusted = (*there, "--scheduler-insecure-skip-tls-verify")
        wait_until(lambda: "unschedulable" in explain(*trusted).stdout, "the pod waits")
        told = explain(*trusted)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("Smallest change\n  lower the cpu request to ", told.stdout)

    def test_status_tells_what_is_left_out(self):
        config = self.directory / "scheduler.yaml"
        config.write_text("""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins: {multiPoint: {enabled: [{name: NodeDeclaredFeatures}]}}
""")
        scheduler = self.start(f"--config={config}", "--feature-gates=MemoryQoS=true",
                               "--leader-elect=true")
        wait_until(scheduler.ready, "it is ready")

        def status(*arguments):
            return subprocess.run(
                [self.koord, "status", "--kubeconfig", self.cluster.kubeconfig, *arguments],
                text=True, stdout=subprocess.PIPE, timeout=DEADLINE_S, check=True).stdout
        there = ("--scheduler", f"https://127.0.0.1:{scheduler.secure_port}",
                 "--scheduler-insecure-skip-tls-verify")
        shown = status(*there)
        self.assertIn("settings of koord-scheduler: feature gate MemoryQoS=true has no effect", shown)
        self.assertRegex(shown, "settings of koord-scheduler: .* runs without plugins that are not "
                                "built in: NodeDeclaredFeatures\n")
        self.assertNotIn("koord-manager", shown, "all is as it was asked to be")
        known = json.loads(status(*there, "-o", "json"))["settingProblems"]
        self.assertEqual((len(known["koord-scheduler"]), known["koord-manager"]), (2, []))
        self.assertIn("settings of koord-scheduler are unknown: ", status())
        self.assertIsNone(json.loads(status("-o", "json"))["settingProblems"]["koord-scheduler"])

    def test_another_takes_over_when_the_leader_is_killed(self):
        replicas = [self.start(), self.start()]
        wait_until(lambda: any(r.leads() for r in replicas) and all(r.ready() for r in replicas),
                   "one leads and both know the cluster")
        leader = wait_until(lambda: next((r for r in replicas if r.leads()), None), "one leads")
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
        wait_until(standby.leads, "the other one leads")
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
                api.create(pod("huge", cpu="1000"))

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
                # Nodes are full and would be too busy; the smallest change is one for both.
                wait_until(lambda: "lacks" in run("default/huge").stdout
                           and "cpu usage exceed threshold" in run("default/huge").stdout,
                           "nodes report what they use")
                self.assertRegex(run("default/huge").stdout,
                                 r"Smallest change\n  lower the cpu request( and limit)? to \d+m?: ")
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
