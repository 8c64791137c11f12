"""Koordinator's programs as processes on real Kubernetes, as they are deployed.

Each runs as its service account of deploy/, with a token, and so may do what its roles list and
nothing else. `Program.refusals` tells what it tried besides.

    deploy(cluster)
    with Scheduler("build/bin/koord-scheduler", cluster) as scheduler:
        scheduler.wait_until_leading()
"""

import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from cluster import REPOSITORY, ClusterError, free_ports

NAMESPACE = "koordinator-system"
DEADLINE_S = 240
STOP_DEADLINE_S = 120
CONFIGURATION = pathlib.Path(__file__).resolve().parent / "scheduler.yaml"


def deploy(cluster, webhooks=False):
    """Installs kinds, accounts and roles; and `webhooks`, which demand a Manager that answers."""
    cluster.kubectl("apply", "-f", REPOSITORY / "deploy" / "crds")
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=180s", "crd", "--all")
    cluster.kubectl("create", "namespace", NAMESPACE)
    for component in ("scheduler", "manager", "koordlet"):
        cluster.kubectl("apply", "-f", REPOSITORY / "deploy" / component / "rbac.yaml")
    cluster.kubectl("apply", "-f", REPOSITORY / "deploy" / "priorityclasses.yaml")
    if webhooks:
        cluster.kubectl("apply", "-f", REPOSITORY / "deploy" / "manager" / "webhooks.yaml")


class Program:
    """One process. Its log is NAME.log in the cluster's directory; restarts add to it."""

    account = None  # its service account, which also is the name of the program
    lease = None

    def __init__(self, path, cluster, arguments=(), name=None):
        self.cluster, self.name = cluster, name or self.account
        self.port, = free_ports(1)
        self.log = cluster.directory / f"{self.name}.log"
        self._command = [path, f"--kubeconfig={self._kubeconfig()}", "--v=2",
                         *self.serving(self.port), *arguments]
        self.process = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if not self.process:
            return
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=self.environment())
        self.wait("start", self.serves)

    def stop(self):
        """Ends it as an administrator would; it must end well."""
        self.__exit__()
        if self.process.returncode != 0:
            raise ClusterError(f"{self.name} ended with {self.process.returncode}\n{self.end()}")

    def kill(self):
        self.signal(signal.SIGKILL)
        try:
            self.process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:  # it is not the program itself, and was stopped
            self.process.kill()
            self.process.wait()

    def signal(self, number):
        self.process.send_signal(number)

    def command(self):
        return self._command

    def environment(self):
        return None

    def serving(self, port):
        raise NotImplementedError

    def serves(self):
        return self.get("/healthz")[0] == 200

    def leads(self):
        return f'leader_election_master_status{{name="{self.lease}"}} 1' in self.get("/metrics")[1]

    def wait_until_leading(self):
        self.wait("lead", self.leads)

    def get(self, path):
        """(status, text) of a request to the program itself."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def wait(self, what, condition, deadline_s=DEADLINE_S):
        end = time.monotonic() + deadline_s
        while True:
            try:
                if condition():
                    return
            except (OSError, http.client.HTTPException):
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise ClusterError(f"{self.name} does not {what}\n{self.end()}")
            time.sleep(0.05)

    def refusals(self):
        """What the API server forbade it."""
        return sorted(set(re.findall(r".*is forbidden: User.*", self.log.read_text())))

    def end(self):
        """Its last words, less those about this test's questions whether it is ready."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join([line for line in lines if "Health check failed" not in line][-20:])

    def _kubeconfig(self):
        return self.cluster.write_account_kubeconfig(self.account, NAMESPACE)


class Scheduler(Program):
    account = lease = "koord-scheduler"

    def __init__(self, path, cluster, arguments=(f"--config={CONFIGURATION}",), name=None, more=()):
        super().__init__(path, cluster, [*arguments, *more], name)

    def serving(self, port):
        return ["--address=127.0.0.1", f"--port={port}", "--secure-port=0",
                "--metrics-without-login"]


class Manager(Program):
    account, lease = "koord-manager", "koordinator-manager"

    def __init__(self, path, cluster, arguments=(), name=None):
        self.webhook_port, = free_ports(1)
        super().__init__(path, cluster, arguments, name)

    def environment(self):
        # The API server is to call it by address: nobody serves the addresses of services here.
        return {**os.environ, "WEBHOOK_HOST": "127.0.0.1", "WEBHOOK_PORT": str(self.webhook_port)}

    def serving(self, port):
        return [f"--metrics-addr=127.0.0.1:{port}", "--health-probe-addr=0", "--secure-port=0",
                "--metrics-without-login"]

    def serves(self):
        return self.get("/metrics")[0] == 200

    def wait_until_asked(self):
        """Until the API server has the webhooks' certificate, without which pods are refused."""
        pod = {"apiVersion": "v1", "kind": "Pod",
               "metadata": {"name": "asked", "namespace": "default"},
               "spec": {"containers": [{"name": "main", "image": "none"}]}}
        self.wait("answer the API server", lambda: self.cluster.kubectl(
            "create", "--dry-run=server", "-f", "-", input=json.dumps(pod),
            check=False).returncode == 0)


class Koordlet(Program):
    """On a Node's machine, as a process of the host."""

    account = "koordlet"

    def __init__(self, path, node, arguments=()):
        self.node = node
        super().__init__(path, node.cluster, arguments)

    def serving(self, port):
        return [f"--addr=127.0.0.1:{port}", "--secure-port=0", f"--tsdb-path={self.node.directory}/metric-data",
                f"--prediction-checkpoint-filepath={self.node.directory}/checkpoints"]

    def command(self):
        return self.node.machine.command(self._command)

    def environment(self):
        return {**os.environ, "NODE_NAME": self.node.name, "agent_mode": "hostMode"}

    def acts(self):
        return self.get("/readyz")[0] == 200

    def signal(self, number):
        # The child is nsenter, which waits for the program.
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for pid in children.read_text().split() or [self.process.pid]:
            os.kill(int(pid), number)
