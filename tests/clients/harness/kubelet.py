"""Runs pods by writing what a scheduler and a kubelet would write.

A real control plane without nodes leaves every pod pending, and one with nodes decides by itself
when things happen. So the suite brings its own node: pods that name its scheduler are bound to it,
become Running and Ready, and end when they are deleted, on any cluster alike.
"""

import datetime
import threading

from .api import STRATEGIC_PATCH, kind_path
from .check import Failure

SCHEDULER = "clients-kubelet"
# On a pod: what becomes of it, "Succeeded" or "Failed"; without it, it runs.
OUTCOME = "clients-kubelet/outcome"
# On a pod: "false" keeps it from becoming Ready.
READY = "clients-kubelet/ready"
HEARTBEAT_S = 10
WATCH_S = 60
POD_IP = "192.0.2.10"  # of a range for documentation


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(kind, status, **more):
    return {"type": kind, "status": status, "lastTransitionTime": now(), **more}


def ready_node_status():
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    return {
        "capacity": capacity, "allocatable": capacity,
        "conditions": [condition("Ready", "True", reason="KubeletReady",
                                 message="kubelet is posting ready status",
                                 lastHeartbeatTime=now())],
        "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}],
        "nodeInfo": {
            "architecture": "amd64", "bootID": "b", "containerRuntimeVersion": "containerd://2.0.0",
            "kernelVersion": "6.1.0", "kubeProxyVersion": "", "kubeletVersion": "v1.35.0",
            "machineID": "m", "operatingSystem": "linux", "osImage": "Debian 12",
            "systemUUID": "s"},
    }


def node_reference(name):
    return {"kind": "Node", "metadata": {"name": name}}


class Kubelet:
    def __init__(self, api, node):
        self._api, self.node = api, node
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._threads, self._nodes = [], set()

    def start(self):
        """Registers the node and begins; later calls do nothing."""
        with self._lock:
            if self._threads:
                return
            self.add_node(self.node, unschedulable=True)
            for work in (self._run_pods, self._keep_ready):
                self._threads.append(threading.Thread(target=work, daemon=True))
                self._threads[-1].start()

    def stop(self):
        if not self._threads:
            return
        self._stop.set()
        for name in list(self._nodes):
            self.remove_node(name)

    def add_node(self, name, **spec):
        """Registers a node and keeps it ready."""
        self._api.create({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": spec})
        self._beat(name)
        self._nodes.add(name)

    def remove_node(self, name):
        self._nodes.discard(name)
        lease = {"kind": "Lease", "metadata": {"name": name, "namespace": "kube-node-lease"}}
        for thing in (node_reference(name), lease):
            self._api.delete(thing)

    def _keep_ready(self):
        while not self._stop.wait(HEARTBEAT_S):
            for name in list(self._nodes):
                try:
                    self._beat(name)
                except Failure:
                    pass  # it was removed meanwhile

    def _beat(self, name):
        self._api.patch(node_reference(name), {"status": ready_node_status()}, STRATEGIC_PATCH,
                        "status")
        stamp = now().replace("Z", ".000000Z")
        lease = {
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": name, "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": stamp}}
        if self._api.try_create(lease).status == 409:
            self._api.patch(lease, {"spec": {"renewTime": stamp}})

    def _run_pods(self):
        while not self._stop.is_set():
            try:
                for event in self._api.watch(kind_path("Pod"), {"resourceVersion": "0"}, WATCH_S):
                    pod = event["object"]
                    if event["type"] in ("ADDED", "MODIFIED") and self._is_mine(pod):
                        self._advance(pod)
                    if self._stop.is_set():
                        return
            except (OSError, Failure):
                self._stop.wait(0.2)  # the watch will be opened again, from the current state

    def _is_mine(self, pod):
        return pod.get("spec", {}).get("schedulerName") == SCHEDULER

    def _advance(self, pod):
        """The next step of a pod's life. When refused, the pod has changed: an event follows."""
        metadata, spec, status = pod["metadata"], pod["spec"], pod["status"]
        path = kind_path("Pod", metadata["namespace"], metadata["name"])
        if not spec.get("nodeName"):
            if not spec.get("schedulingGates") and "deletionTimestamp" not in metadata:
                self._bind(path, metadata["name"], spec)
        elif "deletionTimestamp" in metadata:
            self._api.request("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {
                "uid": metadata["uid"]}})
        elif status.get("phase") == "Pending":
            annotations = metadata.get("annotations", {})
            self._api.request(
                "PATCH", f"{path}/status", {
                    "metadata": {"uid": metadata["uid"]},
                    "status": running_status(spec, annotations.get(READY) != "false")},
                STRATEGIC_PATCH)
        elif status.get("phase") == "Running":
            outcome = metadata.get("annotations", {}).get(OUTCOME)
            if outcome:
                self._api.request("PATCH", f"{path}/status",
                                  {"status": ended_status(spec, outcome)}, STRATEGIC_PATCH)

    def _bind(self, path, name, spec):
        node = spec.get("nodeSelector", {}).get("kubernetes.io/hostname", self.node)
        self._api.request("POST", f"{path}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}})


def running_status(spec, ready):
    started = now()
    return {
        "phase": "Running", "podIP": POD_IP, "startTime": started,
        "conditions": [condition("Initialized", "True"),
                       condition("ContainersReady", str(ready)), condition("Ready", str(ready))],
        "containerStatuses": [
            container_status(c, ready, {"running": {"startedAt": started}})
            for c in spec["containers"]],
    }


def ended_status(spec, phase):
    code = 0 if phase == "Succeeded" else 1
    ended = {"exitCode": code, "reason": "Error" if code else "Completed",
             "startedAt": now(), "finishedAt": now()}
    return {
        "phase": phase,
        "conditions": [condition("ContainersReady", "False"), condition("Ready", "False")],
        "containerStatuses": [
            container_status(c, False, {"terminated": ended}) for c in spec["containers"]],
    }


def container_status(container, ready, state):
    return {"name": container["name"], "image": container["image"], "imageID": "", "ready": ready,
            "restartCount": 0, "started": ready, "state": state}
