"""A cluster's view of this machine: an API server with its Node, and koordlet as a process."""

import datetime
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients"))

from harness.api import Api, register_kind  # noqa: E402
from harness.kubelet import condition, now, ready_node_status  # noqa: E402
from harness.program import ask, free_port  # noqa: E402
from kubepods import Kubepods, die_with_parent, read  # noqa: E402
from run import LocalCluster  # noqa: E402

NODE = "this-machine"
SLO_API = "slo.koordinator.sh/v1alpha1"
register_kind("NodeSLO", SLO_API, "nodeslos", False)
register_kind("NodeMetric", SLO_API, "nodemetrics", False)
PRIORITIES = {"real-batch-low": 5100, "real-batch-high": 5900}
# Strategies that are not looked at leave the machine alone.
GATES = "BEMemoryEvict=true,RdtResctrl=false"


class Koordlet:
    """A running koordlet."""

    def __init__(self, program, directory, kubeconfig):
        self.port = free_port()
        self.log = directory / f"koordlet-{self.port}.log"
        for name in ("var-run", "kubelet", "hooks", "xpu"):
            (directory / name).mkdir(exist_ok=True)
        environment = {**os.environ, "NODE_NAME": NODE, "agent_mode": "hostMode"}
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [program, f"--kubeconfig={kubeconfig}", f"--addr=127.0.0.1:{self.port}", "--v=2",
                 "--secure-port=0", "--metrics-without-login",
                 "--pods-from-api-server", "--disable-query-kubelet-config", "--only-evict-by-api",
                 f"--feature-gates={GATES}", f"--var-run-root-dir={directory}/var-run",
                 f"--var-lib-kubelet-dir={directory}/kubelet", f"--tsdb-path={directory}/metrics",
                 f"--prediction-checkpoint-filepath={directory}/checkpoints",
                 f"--runtime-hooks-addr={directory}/hooks/koordlet.sock",
                 f"--runtime-hooks-config-path={directory}/hooks",
                 f"--xpu-device-infos-dir={directory}/xpu", f"--audit-log-dir={directory}/audit"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                preexec_fn=die_with_parent)

    def get(self, path):
        return ask(self.port, path)

    def acts(self):
        """Whether it has measured usage and runs its strategies."""
        assert self.child.poll() is None, f"koordlet has ended: {self.end_of_log()}"
        return self.get("/readyz")[0] == 200

    def cpu_seconds(self):
        fields = read(f"/proc/{self.child.pid}/stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self):
        line = next(line for line in read(f"/proc/{self.child.pid}/status").split("\n")
                    if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def kill(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()

    def stop(self):
        """Ends it as a cluster does, and returns its exit status."""
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(60)

    def complaints(self):
        """Warnings and errors of its log."""
        lines = self.log.read_text(errors="replace").split("\n")
        return [line for line in lines if line[:1] in ("W", "E", "F")]

    def end_of_log(self):
        return self.log.read_text(errors="replace")[-4000:]


class Machine:
    """This machine as a node of a local cluster, with cgroups for its pods."""

    def __init__(self, koord, koordlet, directory):
        self._koordlet, self._directory = koordlet, directory
        self._cluster = LocalCluster(koord, directory, (
            "--nodes", "0", "--without", "controllers", "manager", "nodes", "scheduler"))
        self.pods = {}  # by name: its cgroup
        self.kubepods, self._koordlets = None, []
        try:
            self._cluster.__enter__()
            self.kubepods = Kubepods()
            self.api = Api(self._cluster.kubeconfig, directory)
            self._register()
        except BaseException:
            self.close()
            raise

    def close(self):
        for koordlet in self._koordlets:
            koordlet.kill()
        self._cluster.__exit__()
        if self.kubepods is not None:
            self.kubepods.close()

    def start(self):
        """A koordlet that has not measured anything yet."""
        koordlet = Koordlet(self._koordlet, self._directory, self._cluster.kubeconfig)
        self._koordlets.append(koordlet)
        return koordlet

    def set_capacity(self, cpus, memory=64 << 30):
        amounts = {"cpu": str(cpus), "memory": str(memory), "pods": "220"}
        self.api.set_status(self._node(), {"capacity": amounts, "allocatable": amounts})

    def set_slo(self, threshold=None, burst=None):
        """The node's policy: what is not given is off."""
        spec = {"resourceUsedThresholdWithBE": {"enable": False, **(threshold or {})},
                "cpuBurstStrategy": {"policy": "none", **(burst or {})}}
        thing = {"kind": "NodeSLO", "apiVersion": SLO_API, "metadata": {"name": NODE}}
        answer = self.api.try_create({**thing, "spec": spec})
        if answer.status != 409:
            answer.has_status(201)
            return
        found = self.api.get("NodeSLO", NODE)
        self.api.request("PUT", f"/apis/{SLO_API}/nodeslos/{NODE}",
                         {**found, "spec": spec}).has_status(200)

    def add_pod(self, name, qos, limit_milli=None, priority=None, containers=1):
        """A pod that runs, and its cgroups; `qos` is LS or BE."""
        resources = {"requests": {"cpu": "10m"}} if qos == "LS" else {}
        if limit_milli:
            resources["limits"] = {"cpu": f"{limit_milli}m"}
        names = [f"c{i}" for i in range(containers)]
        spec = {"nodeName": NODE, "containers": [
            {"name": each, "image": "i", "resources": resources} for each in names]}
        if priority:
            spec["priorityClassName"] = priority
        pod = self.api.create({
            "kind": "Pod", "apiVersion": "v1", "spec": spec, "metadata": {
                "name": name, "namespace": "default", "labels": {"koordinator.sh/qosClass": qos}}})
        uid = pod["metadata"]["uid"]
        ids = [f"{uid.replace('-', '')}{i:032x}" for i in range(containers)]
        group = "burstable" if qos == "LS" else "besteffort"
        self.kubepods.add_pod(group, uid, ids, limit_milli * 100 if limit_milli else -1)
        self.pods[name] = f"kubepods/{group}/pod{uid}"
        self.api.set_status(pod, {"phase": "Running", "containerStatuses": [
            {"name": each, "containerID": f"containerd://{i}", "ready": True, "restartCount": 0,
             "image": "i", "imageID": "i", "state": {"running": {"startedAt": now()}}}
            for each, i in zip(names, ids)], "conditions": [condition("Ready", "True")]})
        return pod, f"{self.pods[name]}/{ids[0]}"

    def remove_pod(self, pod):
        self.api.delete(pod, {"gracePeriodSeconds": 0})
        group, uid = self.pods.pop(pod["metadata"]["name"]).split("/pod")
        self.kubepods.remove_pod(group.split("/")[1], uid)

    def _node(self):
        return {"kind": "Node", "metadata": {"name": NODE}}

    def _register(self):
        self.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
        self.api.set_status(self._node(), ready_node_status())
        self.api.create({
            "apiVersion": SLO_API, "kind": "NodeMetric", "metadata": {"name": NODE},
            "spec": {"metricCollectPolicy": {
                "aggregateDurationSeconds": 60, "reportIntervalSeconds": 30}}})
        for name, value in PRIORITIES.items():
            self.api.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                             "metadata": {"name": name}, "value": value})


def unix_time(text):
    """Seconds of a timestamp of the API, as time.monotonic() counts them."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    return moment - time.time() + time.monotonic()
