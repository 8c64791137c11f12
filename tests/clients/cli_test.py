#!/usr/bin/python3
"""koord's own commands as a user runs them: explain and validate.

    tests/clients/cli_test.py build/bin/koord
"""

import http.server
import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import threading
import termios
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from harness import program  # noqa: E402
from harness.api import Api  # noqa: E402
from run import LocalCluster  # noqa: E402

DEADLINE_S = 300
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap",
          "metadata": {"name": "slo-controller-config", "namespace": "koordinator-system"}}


def colocation(**settings):
    return {"data": {"colocation-config": json.dumps(settings)}}


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


class LoginApi(http.server.BaseHTTPRequestHandler):
    """An API server whose scheduler wants a login."""

    protocol_version = "HTTP/1.1"
    service = "/api/v1/namespaces/koordinator-system/services/"
    path_asked = "/proxy/apis/v1/explain/pods/default/web-0"
    may_login = True
    asked = []

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        self.asked.append(self.path)
        if self.path == f"{self.service}koord-scheduler:10251{self.path_asked}":
            return self.answer(403, 'forbidden: "/apis" needs a login.\n')
        if (self.path == f"{self.service}https:koord-scheduler:10259{self.path_asked}"
                and self.headers["X-Koordinator-Token"] == "short-lived"):
            return self.answer(404, '{"message": "there is no pod default/web-0"}')
        return self.answer(500, "unexpected")

    def do_POST(self):
        self.asked.append(self.path)
        self.rfile.read(int(self.headers["Content-Length"]))
        account = "/api/v1/namespaces/koordinator-system/serviceaccounts/koord-explain/token"
        if self.path == account and self.may_login:
            return self.answer(201, '{"kind": "TokenRequest", "status": {"token": "short-lived"}}')
        return self.answer(403, '{"kind": "Status", "message": "you may not"}')

    def log_message(self, *_):
        pass


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

                def explains(*parts):
                    program.wait_until(
                        lambda: all(part in explain(node, "--resource", "batch-cpu").stdout
                                    for part in parts), f"it says {parts}", DEADLINE_S)
                api.patch(CONFIG, colocation(enable=False))
                explains("Nothing is lent: co-location is off for this node.",
                         'Next: set "enable": true in colocation-config')
                api.patch(CONFIG, colocation(enable=True, cpuReclaimThresholdPercent=70))
                explains("batch-cpu = (capacity - margin", "= ", "cores")
                self.assertRegex(explain(node, "--resource", "kubernetes.io/batch-cpu").stdout,
                                 r"cpuReclaimThresholdPercent +70 +colocation-config, cluster")
                one = json.loads(explain(node, "--resource", "mid-memory", "-o", "json").stdout)
                self.assertEqual(one["resource"], "kubernetes.io/mid-memory")
                self.assertEqual(len(json.loads(explain(node, "-o", "json").stdout)), 4)
                missing = explain(node[:-1] + "z", "--resource", "batch-cpu")
                self.assertEqual(missing.returncode, 1)
                self.assertIn(f"Did you mean {node}?", missing.stderr)
                self.assertEqual(explain(node, "--resource", "cpu").returncode, 2)

    def test_logs_in_where_the_scheduler_wants_it(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), LoginApi)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with tempfile.TemporaryDirectory(prefix="koord-cli-") as temporary:
            kubeconfig = pathlib.Path(temporary) / "kubeconfig"
            kubeconfig.write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "clusters": [{"name": "c", "cluster": {
                    "server": f"http://127.0.0.1:{server.server_port}"}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "users": [{"name": "u", "user": {}}]}))
            explain = ["explain", "pod", "web-0", "--kubeconfig", kubeconfig]
            answered = self.run_koord(*explain)
            self.assertIn("there is no pod default/web-0", answered.stderr)
            self.assertEqual(len(LoginApi.asked), 3)
            LoginApi.may_login = False
            refused = self.run_koord(*explain)
            self.assertIn("koordinator-system/koord-explain was to be had: you may not",
                          refused.stderr)
            self.assertIn("serviceaccounts/token", refused.stderr)

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
            # LSR pods are given whole CPUs, and this one asks for one and a half.
            (directory / "profile.yaml").write_text(
                PROFILE.replace("qosClass: BE", "qosClass: LSR").replace("-batch", "-prod"))
            refused = self.run_koord("explain", "profile", "--pod", "-", "-f", temporary, text=JOB)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn("The pod would be refused: ", refused.stdout)
            self.assertIn("the requested CPUs of LSR Pod must be integer", refused.stdout)

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
        self.assertEqual(ours.returncode, 0, ours.stdout)
        for line in ours.stdout.splitlines():
            self.assertIn("has no effect in this version", line)

    def test_findings_fit_terminals(self):
        bad = PROFILE.replace("qosClass: BE", "probability: 150")
        with tempfile.TemporaryDirectory(prefix="koord-cli-") as temporary:
            file = pathlib.Path(temporary) / "f.yaml"
            file.write_text(bad)
            whole = self.run_koord("validate", "-f", str(file)).stdout
            self.assertGreater(len(whole.rstrip()), 80)
            self.assertEqual(whole.count("\n"), 1)
            outer, inner = pty.openpty()
            fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            done = subprocess.run([self.koord, "validate", "-f", str(file)], stdout=inner,
                                  stderr=subprocess.DEVNULL, timeout=DEADLINE_S,
                                  env={**os.environ, "NO_COLOR": "1"})
            os.close(inner)
            shown = os.read(outer, 1 << 16).decode().replace("\r\n", "\n")
            os.close(outer)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(" ".join(shown.split()), " ".join(whole.split()))
        for line in shown.splitlines():
            self.assertLessEqual(len(line), 80)

    def test_completes(self):
        script = self.run_koord("completion", "bash").stdout
        done = subprocess.run(["bash", "-c", script + """
            COMP_WORDS=(koord explain ''); COMP_CWORD=2; _koord; echo "${COMPREPLY[@]}"
            COMP_WORDS=(koord explain node --res); COMP_CWORD=3; _koord; echo "${COMPREPLY[@]}"
            COMP_WORDS=(koord validate --f); COMP_CWORD=2; _koord; echo "${COMPREPLY[@]}"
            """], text=True, stdout=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual(done.stdout.split("\n")[:3],
                         ["pod node profile quota reservation", "--resource", "--filename"])


if __name__ == "__main__":
    Cli.koord = sys.argv.pop(1)
    unittest.main()
