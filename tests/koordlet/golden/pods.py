"""The pods of the golden machine: one of each kind that koordlet treats in its own way."""

import json
from dataclasses import dataclass, field

GI = 1 << 30
MI = 1 << 20


@dataclass
class Container:
    name: str
    cpu_request: int = 0  # milli
    cpu_limit: int = 0
    memory_request: int = 0  # bytes
    memory_limit: int = 0
    batch_cpu: tuple = ()  # (request, limit) in milli; a limit of 0 is none
    batch_memory: tuple = ()
    id: str = ""
    pids: list = field(default_factory=list)

    def resources(self):
        requests, limits = {}, {}
        for name, request, limit, unit in (("cpu", self.cpu_request, self.cpu_limit, "m"),
                                           ("memory", self.memory_request, self.memory_limit, "")):
            if request:
                requests[name] = f"{request}{unit}"
            if limit:
                limits[name] = f"{limit}{unit}"
        for name, amounts in (("batch-cpu", self.batch_cpu), ("batch-memory", self.batch_memory)):
            if amounts:
                requests[f"kubernetes.io/{name}"] = str(amounts[0])
                if amounts[1]:
                    limits[f"kubernetes.io/{name}"] = str(amounts[1])
        return {"requests": requests, "limits": limits}

    def memory(self, is_be):
        if is_be:
            return self.batch_memory or (0, 0)
        return self.memory_request, self.memory_limit


@dataclass
class Pod:
    name: str
    kube_qos: str
    label: str
    containers: list
    usage: float = 0  # cores
    memory: int = 0  # bytes in use
    annotations: dict = field(default_factory=dict)
    namespace: str = "default"
    priority: int = 0
    uid: str = ""
    sandbox_id: str = ""
    sandbox_pid: int = 0

    @property
    def qos(self):
        by_kube = {"Guaranteed": "LSR", "Burstable": "LS", "BestEffort": "BE"}
        return self.label or by_kube[self.kube_qos]

    @property
    def is_be(self):
        return self.qos == "BE"

    @property
    def cpuset(self):
        status = self.annotations.get("scheduling.koordinator.sh/resource-status")
        return json.loads(status).get("cpuset", "") if status else ""

    @property
    def numa_nodes(self):
        status = self.annotations.get("scheduling.koordinator.sh/resource-status")
        zones = json.loads(status).get("numaNodeResources", []) if status else []
        return [zone["node"] for zone in zones]

    def manifest(self):
        metadata = {"name": self.name, "namespace": self.namespace, "uid": self.uid,
                    "annotations": self.annotations}
        if self.label:
            metadata["labels"] = {"koordinator.sh/qosClass": self.label}
        spec = {"containers": [{"name": c.name, "resources": c.resources()}
                               for c in self.containers]}
        if self.priority:
            spec["priority"] = self.priority
        return {
            "metadata": metadata, "spec": spec,
            "status": {"phase": "Running", "qosClass": self.kube_qos,
                       "containerStatuses": [{"name": c.name, "state": {"running": {}},
                                              "containerID": f"containerd://{c.id}"}
                                             for c in self.containers]}}


def resource_status(**members):
    return {"scheduling.koordinator.sh/resource-status": json.dumps(members)}


def make_pods():
    def one(name, **resources):
        return [Container(name, **resources)]

    pods = [
        Pod("web", "Burstable", "LS", usage=2.25, containers=[
            Container("web", 1000, 2000, 1 * GI, 2 * GI), Container("log")]),
        Pod("burst", "Burstable", "LS", one("main", cpu_request=500, cpu_limit=1500,
                                            memory_request=256 * MI, memory_limit=1 * GI),
            usage=0.5, annotations={
                "koordinator.sh/cpuBurst": '{"cpuBurstPercent": 200}',
                "koordinator.sh/memoryQOS": '{"policy":"auto","minLimitPercent":33}',
                "koordinator.sh/cpuQOS": '{"enable":true,"groupIdentity":-1}',
                "koordinator.sh/blkioQOS":
                    '{"blocks":[{"name":"/dev/vda","type":"device","ioCfg":{"writeBPS":1048576}}]}',
            }),
        Pod("pinned", "Guaranteed", "LSR", one("main", cpu_request=2000, cpu_limit=2000,
                                               memory_request=4 * GI, memory_limit=4 * GI),
            usage=1.5, annotations=resource_status(cpuset="1-2")),
        Pod("exclusive", "Guaranteed", "LSE", one("main", cpu_request=2000, cpu_limit=2000,
                                                  memory_request=2 * GI, memory_limit=2 * GI),
            usage=1.0, annotations=resource_status(cpuset="4,5")),
        Pod("plain", "Guaranteed", "", one("main", cpu_request=1000, cpu_limit=1000,
                                           memory_request=1 * GI, memory_limit=1 * GI),
            usage=0.25, annotations={"koordinator.sh/oom-score-adj": "500"}),
        Pod("modest", "Burstable", "", one("main", cpu_request=250, memory_request=100 * MI + 7),
            usage=0.125),
        Pod("zoned", "Burstable", "LS", one("main", cpu_request=1000, cpu_limit=1000,
                                            memory_request=1 * GI),
            annotations=resource_status(
                numaNodeResources=[{"node": 0, "resources": {"cpu": "1"}}])),
        Pod("cached", "Burstable", "LS", one("main", cpu_request=100),
            annotations={"node.koordinator.sh/resctrl": json.dumps({
                "llc": {"schemata": {"range": [10, 60]}},
                "mb": {"schemata": {"percent": 55},
                       "schemataPerCache": [{"cacheID": 0, "percent": 70}]}})}),
        Pod("system", "Burstable", "SYSTEM", one("main", cpu_request=100, memory_request=64 * MI),
            namespace="kube-system"),
        Pod("batch", "BestEffort", "BE", usage=1.0, memory=5 * GI, priority=5500, containers=[
            Container("one", batch_cpu=(1500, 2000), batch_memory=(1 * GI, 2 * GI)),
            Container("two", batch_cpu=(500, 700), batch_memory=(512 * MI, 768 * MI))]),
        Pod("batch-free", "BestEffort", "BE", one("main", batch_cpu=(3000, 0),
                                                  batch_memory=(3 * GI, 0)),
            usage=0.5, memory=6 * GI, priority=5000),
        Pod("besteffort", "BestEffort", "", one("main"), usage=0.25),
    ]
    for i, pod in enumerate(pods):
        pod.uid = f"{i:08x}-ab12-cd34"
        pod.sandbox_id = f"{i:04x}aaaa"
        pod.sandbox_pid = 1000 * (i + 1)
        for j, container in enumerate(pod.containers):
            container.id = f"{i:04x}c{j:03x}"
            container.pids = [1000 * (i + 1) + 10 * (j + 1) + k for k in range(2)]
    return pods
