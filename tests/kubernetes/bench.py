#!/usr/bin/env python3
"""koord-scheduler against kube-scheduler, and the local API server against kube-apiserver.

    tests/kubernetes/bench.py build/bin [--nodes 5000] [--pods 10000] [--json FILE]

In one run, on one kube-apiserver with etcd: the same nodes and pods, placed by each scheduler with
its limits on requests lifted; and the same pods bound by a client that decides nothing, which is as
fast as that API server goes. Prints tables and writes the numbers as JSON.

Time is counted from a scheduler's start, with all pods waiting, until the last pod is bound. CPU
seconds and memory are those of the scheduler's process then; start and caches are part of them.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time

from cluster import REPOSITORY, Cluster, ClusterError, exit_on_sigterm
from programs import NAMESPACE, Scheduler, deploy

DEADLINE_S = 1200
BINDING = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "pod-{i}"},
           "target": {"apiVersion": "v1", "kind": "Node", "name": "node-{m}"}}
APISERVER = [
    # Load is what is measured; nobody is to be told to come back later.
    "--enable-priority-and-fairness=false", "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
    # Nobody makes service accounts here, nor nodes ready.
    "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
]


def node(cpu):
    resources = {"cpu": cpu, "memory": "128Gi", "pods": "110"}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "node-{i}", "labels": {"kubernetes.io/hostname": "node-{i}",
                                                    "topology.kubernetes.io/zone": "zone-{m}"}},
        "status": {"capacity": resources, "allocatable": resources,
                   "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}


def pod(scheduler, cpu="100m"):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "pod-{i}", "labels": {"app": "bench"}},
            "spec": {"schedulerName": scheduler, "containers": [{
                "name": "main", "image": "localhost/none",
                "resources": {"requests": {"cpu": cpu, "memory": "128Mi"}}}]}}


class LoadError(Exception):
    pass


class Server:
    """An API server, by kubeconfig, under load of kube_load."""

    def __init__(self, binaries, kubeconfig, directory):
        self._program, self.kubeconfig = binaries / "kube_load", kubeconfig
        self._directory = directory

    def load(self, method, path, body=None, **options):
        """Runs kube_load; what it printed, with the rate added."""
        files = []
        if body is not None:
            files = [self._directory / "body.json"]
            files[0].write_text(json.dumps(body))
        flags = [f"--{name}={value}" for name, value in options.items()]
        done = subprocess.run([self._program, f"--kubeconfig={self.kubeconfig}", *flags, method,
                               path, *files], text=True, capture_output=True)
        if done.returncode != 0:
            raise LoadError(f"{method} {path}: {done.stdout} {done.stderr}")
        result = json.loads(done.stdout)
        result["per_s"] = result["count"] / result["seconds"]
        return result

    def create_nodes(self, count, cpu="32"):
        return self.load("POST", "/api/v1/nodes", node(cpu), count=count, modulo=10)

    def create_pods(self, namespace, count, scheduler="nobody", cpu="100m", **options):
        return self.load("POST", f"/api/v1/namespaces/{namespace}/pods", pod(scheduler, cpu),
                         count=count, **options)

    def create_namespace(self, name):
        self.load("POST", "/api/v1/namespaces",
                  {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def remove_pods(self, namespace, count):
        self.load("DELETE", f"/api/v1/namespaces/{namespace}/pods/pod-{{i}}?gracePeriodSeconds=0",
                  count=count)


class BoundPods(threading.Thread):
    """Watches a namespace, and notes when pods are bound. Goes on when the API server restarts."""

    def __init__(self, cluster, namespace, count):
        super().__init__(daemon=True)
        self._cluster, self._count = cluster, count
        # From the start: what is bound already counts too.
        self._path = (f"/api/v1/namespaces/{namespace}/pods?watch=1&resourceVersion=0"
                      "&fieldSelector=spec.nodeName!%3D")
        self._times, self.done, self._ended = {}, threading.Event(), threading.Event()
        self.start()

    def __len__(self):
        return len(self._times)

    def times(self):
        return sorted(self._times.values())

    def stop(self):
        self._ended.set()

    def run(self):
        while not self.done.is_set() and not self._ended.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._watch()
            self._ended.wait(0.2)

    def _watch(self):
        with contextlib.closing(self._cluster.connect(timeout=60)) as connection:
            connection.request("GET", self._path)
            for line in connection.getresponse():
                name = re.search(rb'^{"type":"ADDED".*?"name":"([^"]+)"', line)
                if name:
                    self._times.setdefault(name[1], time.monotonic())
                if len(self._times) == self._count:
                    self.done.set()
                    return


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024


def measure_scheduler(server, cluster, name, scheduler_name, pods, start):
    """`start` starts the scheduler and returns its process, and what ends it."""
    namespace = f"bench-{name}"
    server.create_namespace(namespace)
    server.create_pods(namespace, pods, scheduler_name)
    bound = BoundPods(cluster, namespace, pods)
    before = {p: cpu_seconds(cluster.pid(p)) for p in ("etcd", "kube-apiserver")}
    began = time.monotonic()
    process, stop = start()
    try:
        while not bound.done.wait(1):
            if process.poll() is not None:
                raise ClusterError(f"{name} ended")
            if time.monotonic() > began + DEADLINE_S:
                raise ClusterError(f"{name} has bound {len(bound)} pods only")
        first, last = bound.times()[0], bound.times()[-1]
        result = {
            "seconds": last - began,
            "pods_per_s": pods / (last - began),
            "pods_per_s_once_started": (pods - 1) / (last - first),
            "first_pod_s": first - began,
            "cpu_s": cpu_seconds(process.pid), "memory_bytes": peak_bytes(process.pid),
            "server_cpu_s": sum(cpu_seconds(cluster.pid(p)) - before[p] for p in before),
        }
    finally:
        bound.stop()
        stop()
    server.remove_pods(namespace, pods)
    print(f"{name}: {json.dumps(result)}", file=sys.stderr, flush=True)
    return result


def start_kube_scheduler(cluster):
    config = cluster.directory / "kube-scheduler.json"
    config.write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(cluster.kubeconfig), "qps": 10000, "burst": 10000}}))
    with open(cluster.directory / "kube-scheduler.log", "wb") as log:
        process = subprocess.Popen(
            [cluster.binaries / "kube-scheduler", f"--config={config}", "--secure-port=0"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop():
        process.terminate()
        process.wait()
    return process, stop


def deployed_configuration(cluster):
    """koord-scheduler's configuration of deploy/, as a file."""
    cluster.kubectl("apply", "-f", REPOSITORY / "deploy" / "scheduler" / "config.yaml")
    config_map = cluster.read(f"/api/v1/namespaces/{NAMESPACE}/configmaps/koord-scheduler-config")
    path = cluster.directory / "koord-scheduler.config"
    path.write_text(config_map["data"]["koord-scheduler-config"])
    return path


def start_koord_scheduler(scheduler):
    scheduler.start()
    return scheduler.process, lambda: scheduler.__exit__()


def measure_schedulers(binaries, options):
    flags = {"kube-apiserver": APISERVER}
    with Cluster(arguments=flags) as cluster:
        server = Server(binaries, cluster.kubeconfig, cluster.directory)
        cluster.build("kube-scheduler")
        deploy(cluster)
        results = {"kubernetes_api": measure_server(server, options)}
        server.create_nodes(options.nodes)
        results["kube-scheduler"] = measure_scheduler(
            server, cluster, "kube-scheduler", "default-scheduler", options.pods,
            lambda: start_kube_scheduler(cluster))
        koord = Scheduler(binaries / "koord-scheduler", cluster, arguments=[
            f"--config={deployed_configuration(cluster)}", "--leader-elect=false",
            "--kube-api-qps=10000", "--kube-api-burst=10000", "--v=0"])
        results["koord-scheduler"] = measure_scheduler(
            server, cluster, "koord-scheduler", "koord-scheduler", options.pods,
            lambda: start_koord_scheduler(koord))
        server.create_namespace("bench-bare")
        server.create_pods("bench-bare", options.pods)
        results["bare_bind"] = server.load(
            "POST", "/api/v1/namespaces/bench-bare/pods/pod-{i}/binding", BINDING,
            count=options.pods, modulo=options.nodes)
        return results


def measure_server(server, options):
    """Creates, lists and watches. Leaves nothing in the server."""
    server.create_namespace("bench-api")
    results = {"create_nodes": server.create_nodes(options.nodes),
               "create_pods": server.create_pods("bench-api", options.pods),
               "list_nodes": server.load("GET", "/api/v1/nodes", connections=1, count=20),
               "list_pods": server.load("GET", "/api/v1/pods", connections=1, count=20)}
    server.remove_pods("bench-api", options.pods)
    watched = options.pods // 10
    results["watch"] = server.create_pods(
        "bench-api", watched, watchers=100, watch="/api/v1/namespaces/bench-api/pods?watch=1"
        "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan")
    results["watch"]["events_per_s"] = results["watch"]["events"] / results["watch"]["seconds"]
    server.remove_pods("bench-api", watched)
    server.load("DELETE", "/api/v1/nodes/node-{i}", count=options.nodes)
    print(f"API server: {json.dumps(results)}", file=sys.stderr, flush=True)
    return results


def measure_local_server(binaries, options):
    with contextlib.ExitStack() as running:
        directory = pathlib.Path(running.enter_context(
            tempfile.TemporaryDirectory(prefix="koord-bench-")))
        with open(directory / "koord.log", "wb") as log:
            process = subprocess.Popen(
                [binaries / "koord", "up", "--nodes=0", f"--data-dir={directory}/data", "--without",
                 "controllers", "nodes", "scheduler", "manager"], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log)
        running.callback(process.wait)
        running.callback(process.terminate)
        kubeconfig = directory / "data" / "kubeconfig"
        end = time.monotonic() + 60
        server = Server(binaries, kubeconfig, directory)
        while True:
            try:
                server.load("GET", "/readyz")
                break
            except LoadError as error:
                if process.poll() is not None or time.monotonic() > end:
                    raise ClusterError(f"koord up failed: {error}") from error
                time.sleep(0.1)
        return measure_server(server, options)


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]
    return {"cpu": re.search(r"model name\s*: (.*)", text)[1], "cores": os.cpu_count(),
            "memory_gib": round(int(memory) / (1 << 20)), "kernel": platform.release(),
            "load_before": os.getloadavg()[0]}


def table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print()


def report(results):
    kube, koord = results["kube-scheduler"], results["koord-scheduler"]
    bare = results["bare_bind"]["per_s"]
    rows = [["", "kube-scheduler", "koord-scheduler", "ratio"]]
    for name, key, scale, unit in (
            ("pods/s", "pods_per_s", 1, "{:.0f}"),
            ("pods/s once started", "pods_per_s_once_started", 1, "{:.0f}"),
            ("wall time, s", "seconds", 1, "{:.1f}"), ("CPU time, s", "cpu_s", 1, "{:.2f}"),
            ("memory, MiB", "memory_bytes", 1 / (1 << 20), "{:.0f}"),
            ("CPU time of the API server and etcd, s", "server_cpu_s", 1, "{:.1f}")):
        a, b = kube[key] * scale, koord[key] * scale
        rows.append([name, unit.format(a), unit.format(b), f"{b / a:.3g}"])
    rows.append(["share of the bare bind rate", f"{kube['pods_per_s_once_started'] / bare:.0%}",
                 f"{koord['pods_per_s_once_started'] / bare:.0%}", ""])
    table(rows)
    print(f"Bare bind rate of that API server: {bare:.0f} pods/s.\n")
    local, real = results["local_api"], results["kubernetes_api"]
    rows = [["", "kube-apiserver + etcd", "local API server", "ratio"]]
    for name, key, value, unit in (
            ("pods created/s", "create_pods", "per_s", "{:.0f}"),
            ("nodes created/s", "create_nodes", "per_s", "{:.0f}"),
            ("list of all nodes, ms", "list_nodes", "p50_ms", "{:.1f}"),
            ("list of all pods, ms", "list_pods", "p50_ms", "{:.1f}"),
            ("watch events/s, 100 watchers", "watch", "events_per_s", "{:.0f}")):
        a, b = real[key][value], local[key][value]
        rows.append([name, unit.format(a), unit.format(b), f"{b / a:.3g}"])
    table(rows)
    m = results["machine"]
    print(f"{m['cores']} cores of {m['cpu']}, {m['memory_gib']} GiB, Linux {m['kernel']}, "
          f"load {m['load_before']:.1f} before.")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=10000)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    binaries = options.binaries.absolute()
    results = {"machine": machine(), "nodes": options.nodes, "pods": options.pods}
    results.update(measure_schedulers(binaries, options))
    results["local_api"] = measure_local_server(binaries, options)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    report(results)
    return 0


if __name__ == "__main__":
    exit_on_sigterm()
    try:
        sys.exit(main())
    except (ClusterError, LoadError) as error:
        sys.exit(f"bench.py: {error}")
