#!/usr/bin/python3
"""koordlet as a process on the image of a machine: what it tells to whom.

    tests/koordlet/process_test.py build/bin/koord build/bin/koordlet
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "clients")]

from golden.machine import Image, Layout, Shape  # noqa: E402
from harness import program  # noqa: E402
from harness.api import Api  # noqa: E402
from harness.kubelet import ready_node_status  # noqa: E402
from run import LocalCluster  # noqa: E402
from waiting import wait_until  # noqa: E402

NODE = "imaged"
MEMORY = 64 << 30
METRICS = ("/metrics", "/internal-metrics", "/external-metrics")


class Koordlet:
    """A running koordlet that sees nothing of this machine but the image in `directory`."""

    def __init__(self, binary, directory, cluster, arguments=()):
        self.port, self.secure_port = program.free_port(), program.free_port()
        self.token = cluster.admin_token()
        self.log = directory / f"koordlet-{self.port}.log"
        image = directory / "machine"
        environment = {**os.environ, "NODE_NAME": NODE, "agent_mode": "hostMode"}
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [binary, f"--kubeconfig={cluster.kubeconfig}", f"--addr=127.0.0.1:{self.port}",
                 f"--secure-port={self.secure_port}", "--bind-address=127.0.0.1", "--v=2",
                 "--pods-from-api-server", "--disable-query-kubelet-config", "--only-evict-by-api",
                 f"--cgroup-root-dir={image}/sys/fs/cgroup", f"--proc-root-dir={image}/proc",
                 f"--sys-root-dir={image}/sys", f"--sys-fs-root-dir={image}/sys/fs",
                 f"--var-run-root-dir={image}/var/run", f"--run-root-dir={image}/run",
                 f"--var-lib-kubelet-dir={image}/var/lib/kubelet",
                 f"--tsdb-path={directory}/metrics", f"--audit-log-dir={directory}/audit",
                 f"--prediction-checkpoint-filepath={directory}/checkpoints",
                 f"--runtime-hooks-addr={directory}/koordlet-{self.port}.sock",
                 f"--runtime-hooks-config-path={image}/hooks",
                 f"--xpu-device-infos-dir={image}/xpu", *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def ask(self, path, method="GET", body=None):
        return program.ask(self.port, path, method, body)

    def ask_securely(self, path, token, method="GET", body=None):
        return program.ask_securely(self.secure_port, path, token, method, body)

    def ready(self):
        assert self.child.poll() is None, f"it has ended: {self.log.read_text()[-4000:]}"
        return self.ask("/readyz")[0] == 200

    def end(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()


class KoordletProcess(unittest.TestCase):
    koord = koordlet = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="koordlet-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        layout = Layout(2, "systemd")
        image = Image(Shape(1, False), layout, False, False, MEMORY)
        for qos in ("Guaranteed", "Burstable", "BestEffort"):
            image.add_cgroup(layout.qos_dir(qos))
        image.write(self.directory / "machine")
        for name in ("var/run", "run", "var/lib/kubelet", "hooks", "xpu"):
            (self.directory / "machine" / name).mkdir(parents=True, exist_ok=True)
        self.cluster = self.enterContext(LocalCluster(self.koord, self.directory, (
            "--nodes", "0", "--without", "controllers", "manager", "nodes", "scheduler")))
        self.api = Api(self.cluster.kubeconfig, self.directory)
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
        self.api.create(node)
        self.api.set_status(node, ready_node_status())

    def start(self, *arguments):
        started = Koordlet(self.koordlet, self.directory, self.cluster, arguments)
        self.addCleanup(started.end)
        wait_until(started.ready, "it is ready")
        return started

    def test_strangers_learn_of_its_health_alone(self):
        koordlet = self.start("--feature-gates=AuditEvents=true,AuditEventsHTTPHandler=true")
        for path in ("/healthz", "/livez", "/readyz"):
            self.assertEqual(koordlet.ask(path), (200, "ok"), path)
        for path, method, body in (*((path, "GET", None) for path in METRICS),
                                   ("/events?size=1", "GET", None), ("/", "GET", None),
                                   ("/no-such-path", "GET", None), ("/debug/flags", "GET", None),
                                   ("/debug/flags/v", "PUT", "9"), ("/healthz", "POST", "")):
            plain = koordlet.ask(path, method, body)
            self.assertEqual(plain[0], 403, path)
            self.assertIn(f"port {koordlet.secure_port}", plain[1])
            if path != "/healthz":
                wrong = koordlet.ask_securely(path, "no-such-token", method, body)
                self.assertEqual(wrong[0], 401, path)
        log = koordlet.log.read_text()
        self.assertNotIn(koordlet.token, log)
        self.assertNotIn("no-such-token", log)

    def test_those_who_log_in_are_answered(self):
        koordlet = self.start("--feature-gates=AuditEvents=true,AuditEventsHTTPHandler=true")
        for path in METRICS:
            status, text = koordlet.ask_securely(path, koordlet.token)
            self.assertEqual(status, 200, path)
            if path != "/external-metrics":  # those are about pods, of which there are none here
                self.assertIn("# TYPE koordlet_", text, path)
        self.assertEqual(koordlet.ask_securely("/events?size=1", koordlet.token)[0], 200)
        self.assertEqual(koordlet.ask_securely("/healthz", koordlet.token), (200, "ok"))

    def test_metrics_can_be_opened_and_nothing_else(self):
        koordlet = self.start("--metrics-without-login",
                              "--feature-gates=AuditEvents=true,AuditEventsHTTPHandler=true")
        for path in METRICS:
            self.assertEqual(koordlet.ask(path)[0], 200, path)
            self.assertEqual(koordlet.ask(path, "POST", "")[0], 403, path)
        for path in ("/events", "/debug/flags"):
            self.assertEqual(koordlet.ask(path)[0], 403, path)


if __name__ == "__main__":
    KoordletProcess.koord, KoordletProcess.koordlet = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
