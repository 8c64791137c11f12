#!/usr/bin/env python3
"""The whole loop of co-location on a real node, with every program a process of its own.

    tests/kubernetes/colocation_test.py build/bin [STEP...]

kubelet and containerd run real pods; koordlet measures them, koord-manager lends what is idle,
koord-scheduler places batch pods on it, koordlet holds them back and evicts them. The steps are
those of STEPS and build on each other; each waits for what it expects, up to a deadline.
"""

import contextlib
import datetime
import json
import os
import pathlib
import sys
import threading
import time

from cluster import REPOSITORY, Cluster, ClusterError, exit_on_sigterm
from image import BUSYBOX, busybox_files
from machine import why_impossible
from node import Node
from programs import CONFIGURATION, NAMESPACE, Koordlet, Manager, Scheduler, deploy
from report import Report

DEADLINE_S = 240
WINDOW_S = 30  # over which koordlet averages
MI = 1 << 20
BURN = "while :; do :; done"
EXAMPLE = REPOSITORY / "examples" / "colocation"
EXAMPLES_IMAGE = "docker.io/library/busybox:1.36"
BATCH_CPU, BATCH_MEMORY = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"


class World:
    """The cluster, and what runs on it."""

    def __init__(self, binaries, running):
        flags = {"kube-controller-manager": ["--node-monitor-grace-period=1h"]}
        self.cluster = running.enter_context(Cluster(controller_manager=True, arguments=flags))
        self.node = running.enter_context(Node(self.cluster))
        self.node.import_image(EXAMPLES_IMAGE, busybox_files())
        deploy(self.cluster, webhooks=True)
        self.configure()
        # An empty node tells koordlet nothing: as everywhere, it could be a kubelet that starts.
        self.run_pod("resident", "sleep infinity", namespace=NAMESPACE, nodeName=self.node.name)
        self.scheduler = running.enter_context(
            Scheduler(binaries / "koord-scheduler", self.cluster, [f"--config={self.patient()}"]))
        self.manager = running.enter_context(Manager(binaries / "koord-manager", self.cluster))
        self.koordlet = running.enter_context(Koordlet(
            binaries / "koordlet", self.node,
            ["--only-evict-by-api", "--feature-gates=BEMemoryEvict=true,CgroupReconcile=true",
             "--memory-evict-cool-time-seconds=1"]))
        self.programs = [self.scheduler, self.manager, self.koordlet]

    def patient(self):
        """The scheduler's configuration, less its threshold: the machine may be busy otherwise."""
        path = self.cluster.directory / "scheduler.yaml"
        path.write_text(CONFIGURATION.read_text().replace("{cpu: 65, memory: 95}", "{memory: 95}"))
        return path

    def configure(self, **thresholds):
        """Writes the ConfigMap of policies; `thresholds` are those of resource-threshold-config."""
        data = {
            "colocation-config": {"enable": True, "metricReportIntervalSeconds": 10,
                                  "metricAggregateDurationSeconds": WINDOW_S,
                                  # There is something to lend on a busy machine too.
                                  "cpuReclaimThresholdPercent": 200,
                                  "updateTimeThresholdSeconds": 10, "resourceDiffThreshold": 0.01},
            "resource-threshold-config": {"clusterStrategy": {
                "enable": True, "cpuSuppressPolicy": "cfsQuota", "cpuSuppressThresholdPercent": 100,
                **thresholds}},
        }
        self.apply({"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": "slo-controller-config", "namespace": NAMESPACE},
                    "data": {key: json.dumps(value) for key, value in data.items()}})

    def apply(self, thing):
        self.cluster.kubectl("apply", "-f", "-", input=json.dumps(thing))

    def get(self, *arguments):
        done = self.cluster.kubectl("get", *arguments, "-o", "json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def run_pod(self, name, command, labels=None, resources=None, namespace="default", **spec):
        self.apply({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                     "schedulerName": "koord-scheduler", **spec,
                     "containers": [{"name": "main", "image": BUSYBOX, "imagePullPolicy": "Never",
                                     "command": ["sh", "-c", command],
                                     "resources": resources or {}}]}})
        self.cluster.kubectl("wait", "-n", namespace, "--for=condition=Ready", f"pod/{name}",
                             f"--timeout={DEADLINE_S}s")
        return self.get("pod", name, "-n", namespace)

    def coloured_dry(self, namespace):
        """The metadata that a pod would get in the namespace."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": namespace},
               "spec": {"containers": [{"name": "main", "image": BUSYBOX}]}}
        done = self.cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-",
                                    input=json.dumps(pod))
        return {"labels": {}, **json.loads(done.stdout)["metadata"]}

    def delete_pod(self, name):
        self.cluster.kubectl("delete", "pod", name, "--timeout=180s")

    def metric(self):
        """The status of the NodeMetric, {} while there is none."""
        metrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
        return self.cluster.read(f"{metrics}/{self.node.name}").get("status", {})

    def wait(self, what, condition, deadline_s=DEADLINE_S):
        """Waits until `condition()` returns no text about what is still wrong."""
        end = time.monotonic() + deadline_s
        while wrong := condition():
            if time.monotonic() > end:
                raise ClusterError(f"{what}, after {deadline_s} s: {wrong}")
            for program in self.programs:
                if program.process.poll() is not None:
                    raise ClusterError(f"{program.name} ended\n{program.end()}")
            time.sleep(0.25)

    def explain(self):
        """What to look at after a failure."""
        pods = self.cluster.kubectl("get", "pods", "-A", "-o", "wide", check=False).stdout
        return "\n".join([pods, *(f"--- {program.name}\n{program.end()}"
                                  for program in self.programs)])


def cores(quantity):
    return int(quantity[:-1]) / 1000 if quantity.endswith("m") else float(quantity)


def amount(quantity):
    units = {"Ki": 1 << 10, "Mi": MI, "Gi": 1 << 30, "k": 10**3, "M": 10**6, "m": 1e-3}
    for unit, factor in units.items():
        if quantity.endswith(unit):
            return float(quantity.removesuffix(unit)) * factor
    return float(quantity)


def expect(values, expected):
    """A text that says what of `values` is not as expected, or None."""
    wrong = {key: values.get(key) for key in expected if values.get(key) != expected[key]}
    return f"expected {({k: expected[k] for k in wrong})}, found {wrong}" if wrong else None


def programs_start(world):
    world.scheduler.wait_until_leading()
    world.manager.wait_until_leading()
    world.manager.wait_until_asked()
    world.koordlet.wait("act", world.koordlet.acts)


def true_usage_is_reported(world):
    """What koordlet says that a busy pod uses is what the kernel says of its control group."""
    pod = world.run_pod("web", f"dd if=/dev/zero of=/dev/shm/held bs=1M count=32; {BURN}",
                        resources={"requests": {"cpu": "200m", "memory": "128Mi"},
                                   "limits": {"cpu": "300m", "memory": "128Mi"}})
    group = f"kubepods/burstable/pod{pod['metadata']['uid']}"
    samples = []  # (time, CPU seconds)

    def wrong():
        samples.append((time.time(), cpu_seconds(world, group)))
        metric = world.metric()
        pods = {pod["name"]: pod for pod in metric.get("podsMetric", [])}
        if "web" not in pods:
            return f"no usage of the pod in {metric}"
        usage, truth = pods["web"]["podUsage"]["resources"], rate(samples, metric["updateTime"])
        if not truth or abs(cores(usage["cpu"]) - truth) > 0.1 * truth:
            return f"CPU is {usage['cpu']}, expected about {truth}"
        if not 32 * MI <= amount(usage["memory"]) < 128 * MI:
            return f"memory is {usage['memory']}, expected a bit more than 32Mi"
        node = metric["nodeMetric"]["nodeUsage"]["resources"]
        if cores(node["cpu"]) < cores(usage["cpu"]):
            return f"the node uses {node}, its pod {usage}"
        return expect(pods["web"], {"qos": "LS", "priority": "koord-prod"})
    world.wait("NodeMetric tells the truth", wrong)


def cpu_seconds(world, group):
    return int((world.node.machine.cgroup("cpuacct", group) / "cpuacct.usage").read_text()) / 1e9


def rate(samples, stamp):
    """CPUs used, by the samples of the WINDOW_S before the time `stamp`; None if too few."""
    end = datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()
    inside = [sample for sample in samples if end - WINDOW_S <= sample[0] <= end]
    if not inside or samples[0][0] > end - WINDOW_S:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


def idle_resources_are_lent(world):
    """batch-cpu = 2 * capacity - systemUsed - hpUsed, of the reported numbers."""
    def wrong():
        node = world.cluster.read(f"/api/v1/nodes/{world.node.name}")["status"]
        offered = node["allocatable"].get("kubernetes.io/batch-cpu")
        if offered is None:
            return f"no batch-cpu in {node['allocatable']}"
        metric = world.metric()
        pods = sum(cores(p["podUsage"]["resources"]["cpu"]) for p in metric["podsMetric"]
                   if p.get("priority") == "koord-prod")
        system = cores(metric["nodeMetric"]["systemUsage"]["resources"]["cpu"])
        capacity = cores(node["capacity"]["cpu"])
        expected = max(0, 1000 * (2 * capacity - system - pods))
        if abs(float(offered) - expected) > 0.05 * capacity * 1000:
            return f"batch-cpu is {offered}, expected about {expected:.0f} from {metric}"
        if amount(node["allocatable"]["kubernetes.io/batch-memory"]) < 1 << 30:
            return f"batch-memory is {node['allocatable']['kubernetes.io/batch-memory']}"
        return None
    world.wait("the Node offers batch resources", wrong)


def profile_makes_a_batch_pod(world):
    """A pod that asks for cpu and memory in the ordinary way gets batch resources instead."""
    world.configure(cpuSuppressPolicy="cpuset")  # with cfsQuota, pods have no quota of their own
    world.apply({"apiVersion": "config.koordinator.sh/v1alpha1", "kind": "ClusterColocationProfile",
                 "metadata": {"name": "offline"},
                 "spec": {"selector": {"matchLabels": {"work": "offline"}}, "qosClass": "BE",
                          "priorityClassName": "koord-batch",
                          "schedulerName": "koord-scheduler"}})
    asked = {"cpu": "100m", "memory": "64Mi"}
    pod = world.run_pod("batch", "sleep infinity", resources={"requests": asked, "limits": asked},
                        labels={"work": "offline"}, schedulerName="default-scheduler")
    given = {"kubernetes.io/batch-cpu": "100", "kubernetes.io/batch-memory": "64Mi"}
    for found, expected in (
            (pod["metadata"]["labels"], {"koordinator.sh/qosClass": "BE"}),
            (pod["spec"], {"priorityClassName": "koord-batch", "schedulerName": "koord-scheduler"}),
            (pod["status"], {"qosClass": "BestEffort"}),
            (pod["spec"]["containers"][0]["resources"], {"requests": given, "limits": given})):
        if wrong := expect(found, expected):
            raise ClusterError(wrong)


def batch_pod_runs_within_its_limits(world):
    pod = world.get("pod", "batch")
    container = pod["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
    folder = f"kubepods/besteffort/pod{pod['metadata']['uid']}"
    expected = {"cpu/cpu.shares": "102", "cpu/cpu.cfs_quota_us": "10000",
                "memory/memory.limit_in_bytes": str(64 * MI)}
    for group in (folder, f"{folder}/{container}"):
        world.wait(f"limits of {'container' if container in group else 'pod'}", lambda: expect(
            read_cgroup(world, group, expected), expected))


def read_cgroup(world, group, files):
    values = {}
    for file in files:
        controller, name = file.split("/")
        values[file] = (world.node.machine.cgroup(controller, group) / name).read_text().strip()
    return values


def batch_gives_way_to_latency_sensitive(world):
    """All best-effort pods together get what others leave of the CPUs, at least 2 % of one."""
    world.configure(cpuSuppressPolicy="cfsQuota", cpuSuppressThresholdPercent=100)
    quota = world.node.machine.cgroup("cpu", "kubepods/besteffort") / "cpu.cfs_quota_us"
    cpus = os.cpu_count()

    def is_what_others_leave():
        value, others = int(quota.read_text()), busy_cpus(world)
        expected = max(cpus - others, 0.02) * 100_000
        if value > 0 and abs(value - expected) < 0.1 * cpus * 100_000:
            return None
        return f"the quota is {value}, expected about {expected:.0f} as others use {others:.2f}"

    def is_little():
        value = int(quota.read_text())
        return None if 0 < value < 0.2 * cpus * 100_000 else f"the quota is {value}"
    world.wait("best-effort pods get what is left", is_what_others_leave)
    world.run_pod("hog", " & ".join([BURN] * (2 * cpus)), resources={"requests": {"cpu": "500m"}})
    world.wait("a hog leaves them little", is_little)
    world.delete_pod("hog")
    world.wait("they get it back", is_what_others_leave)


def busy_cpus(world):
    """How many CPUs all but best-effort pods use, over a moment."""
    def used():
        fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
        idle = int(fields[3]) + int(fields[4])
        busy = (sum(map(int, fields)) - idle) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy - cpu_seconds(world, "kubepods/besteffort")
    start, before = used()
    threading.Event().wait(1)
    end, after = used()
    return (after - before) / (end - start)


def short_memory_evicts_batch(world):
    uid = world.get("pod", "batch")["metadata"]["uid"]
    world.configure(memoryEvictThresholdPercent=1, memoryEvictLowerPercent=0)

    def wrong():
        return "the pod is still there" if world.get("pod", "batch") else None
    world.wait("the batch pod is evicted", wrong)

    def untold():
        events = world.get("events", "--field-selector", f"involvedObject.uid={uid}")["items"]
        reasons = [event["reason"] for event in events]
        return None if "evictPodSuccess" in reasons else f"the events are {reasons}"
    world.wait("an event tells of the eviction", untold)
    if world.get("pod", "web")["status"]["phase"] != "Running":
        raise ClusterError("the latency-sensitive pod was evicted too")


def example_colours_services_and_jobs(world):
    """examples/colocation as the tutorial applies it."""
    world.delete_pod("web")
    # The example is for large machines; this one lends what it has several times over.
    world.cluster.kubectl("annotate", "node", world.node.name, (
        'node.koordinator.sh/colocation-strategy={"enable": true, '
        '"cpuReclaimThresholdPercent": 1000, "memoryReclaimThresholdPercent": 100}'))
    kubectl = world.cluster.kubectl
    kubectl("apply", "-f", EXAMPLE / "1-cluster.yaml", "-f", EXAMPLE / "2-profiles.yaml")
    for namespace, qos in (("shop", "LS"), ("analytics", "BE")):
        world.wait("the manager knows the profiles", lambda: expect(
            world.coloured_dry(namespace)["labels"], {"koordinator.sh/qosClass": qos}))
    kubectl("apply", "-f", EXAMPLE / "3-services.yaml")
    kubectl("scale", "--namespace=shop", "--all", "--replicas=1", "deployment")
    kubectl("create", "-f", EXAMPLE / "jobs.yaml")

    def wrong():
        services, jobs = pods_of(world, "shop"), pods_of(world, "analytics")
        if len(services) < 3 or len(jobs) < 3:
            return f"{len(services)} pods of services and {len(jobs)} of jobs"
        return next(filter(None, [
            *(colour(pod, "LS", "koord-prod", {"cpu", "memory"}) for pod in services),
            *(colour(pod, "BE", "koord-batch", {BATCH_CPU, BATCH_MEMORY}) for pod in jobs)]), None)
    world.wait("pods are coloured", wrong)


def pods_of(world, namespace):
    return world.get("pods", "-n", namespace)["items"]


def colour(pod, qos, priority, resources):
    """What is wrong with the pod's colour, or None."""
    spec, given = pod["spec"], pod["spec"]["containers"][0]["resources"]
    found = {"qos": pod["metadata"]["labels"].get("koordinator.sh/qosClass"),
             "priority": spec.get("priorityClassName"), "scheduler": spec["schedulerName"],
             "requests": set(given["requests"]), "limits": set(given["limits"])}
    return expect(found, {"qos": qos, "priority": priority, "scheduler": "koord-scheduler",
                          "requests": resources, "limits": resources})


def example_jobs_run_on_what_is_lent(world):
    """Pods of Jobs run, in the control groups of best-effort pods and within their limits."""
    def wrong():
        pods = pods_of(world, "analytics")
        running = [pod for pod in pods if pod["status"]["phase"] == "Running"]
        if not running:
            return f"phases are {sorted(pod['status']['phase'] for pod in pods)}"
        given = running[0]["spec"]["containers"][0]["resources"]["limits"]
        expected = {"memory/memory.limit_in_bytes": f"{amount(given[BATCH_MEMORY]):.0f}",
                    "cpu/cpu.shares": str(int(amount(given[BATCH_CPU])) * 1024 // 1000)}
        group = f"kubepods/besteffort/pod{running[0]['metadata']['uid']}"
        return expect(read_cgroup(world, group, expected), expected)
    world.wait("a pod of a Job runs", wrong)


def nobody_was_refused(world):
    refusals = [refusal for program in world.programs for refusal in program.refusals()]
    if refusals:
        raise ClusterError("\n".join(refusals))


def programs_stop(world):
    for program in reversed(world.programs):
        program.stop()


STEPS = [programs_start, true_usage_is_reported, idle_resources_are_lent,
         profile_makes_a_batch_pod, batch_pod_runs_within_its_limits,
         batch_gives_way_to_latency_sensitive, short_memory_evicts_batch,
         example_colours_services_and_jobs, example_jobs_run_on_what_is_lent,
         nobody_was_refused, programs_stop]


def main(binaries, *names):
    report = Report()
    steps = [step for step in STEPS if not names or step.__name__ in names]
    if why := why_impossible():
        report.skip("a node", why)
        return report.end()
    with contextlib.ExitStack() as running:
        world = World(pathlib.Path(binaries).absolute(), running)
        report.run_steps(steps, world, world.explain)
    return report.end()


if __name__ == "__main__":
    exit_on_sigterm()
    try:
        sys.exit(main(*sys.argv[1:]))
    except ClusterError as error:
        sys.exit(f"colocation_test.py: {error}")
