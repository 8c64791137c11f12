#!/usr/bin/python3
"""koordlet --once on images of machines: every file holds what the rules give, no other is touched.

    tests/koordlet/golden_test.py build/bin/koordlet

Cgroups of both versions and both drivers, resctrl of Intel and AMD, one to four NUMA nodes, SMT on
and off, kernels with and without the files of Anolis. What is expected is computed in golden/, from
the rules and not by koordlet.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from golden import formulas  # noqa: E402
from golden.expected import HOST_APPS, Expected  # noqa: E402
from golden.machine import NO_LIMIT_V1, Image, Layout, Shape, cpu_list  # noqa: E402
from golden.pods import make_pods  # noqa: E402

MEMORY = 64 << 30
ALLOCATABLE = 60 << 30
SYSTEM_CPU, RESERVED_CPU = 3, 0
# An image has thousands of small files: in memory they take a fifth of the time.
IMAGES = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass
class Usage:
    system: float = 0.5  # cores of neither pods nor host applications
    apps: float = 0.75
    memory_percent: int = 60

    def node(self, pods):
        return sum(p.usage for p in pods) + self.apps + self.system

    def memory(self, capacity):
        return capacity * self.memory_percent // 100


@dataclass
class Scenario:
    name: str
    suppress_policy: str = "cpuset"
    cpu_policy: str = "groupIdentity"
    anolis: bool = True
    kubelet_static: bool = False
    be_is_narrow: bool = False  # best-effort pods were suppressed before
    burst: bool = True
    ratio: float = 0
    usage: Usage = field(default_factory=Usage)
    reserved_cpu: int = RESERVED_CPU
    system_cpu: int = SYSTEM_CPU
    allocatable_memory: int = ALLOCATABLE
    memory = {
        "LSR": {"minLimitPercent": 80, "lowLimitPercent": 90, "priorityEnable": 1, "priority": 8,
                "oomKillGroup": 1},
        "LS": {"minLimitPercent": 50, "lowLimitPercent": 40, "throttlingPercent": 90,
               "pageCacheLimitPercent": 45},
        "BE": {"throttlingPercent": 80, "wmarkRatio": 80, "priority": 2},
    }

    @property
    def kubelet_cpus(self):
        return (6,) if self.kubelet_static else ()

    def be_cpus(self, shape):
        """What best-effort pods have before."""
        return {7, 8} if self.be_is_narrow else set(shape.all())

    def quota(self, pod, base):
        """Before: "burst" was throttled and has twice its quota."""
        return 2 * base if self.burst and pod.name == "burst" else base

    def slo(self):
        classes = {}
        for qos, key, resctrl in (("LSR", "lsrClass", (0, 100, 100)), ("LS", "lsClass", (0, 80, 90)),
                                  ("BE", "beClass", (0, 30, 25))):
            classes[key] = {
                "cpuQOS": {"enable": True, **({"schedIdle": 1} if qos == "BE" else {})},
                "memoryQOS": {"enable": True, **self.memory[qos]},
                "resctrlQOS": {"enable": True, "catRangeStartPercent": resctrl[0],
                               "catRangeEndPercent": resctrl[1], "mbaPercent": resctrl[2]},
            }
        classes["beClass"]["blkioQOS"] = {"enable": True, "blocks": [
            {"name": "/dev/vdb", "type": "device",
             "ioCfg": {"readIOPS": 1000, "readBPS": 104857600, "writeIOPS": 500,
                       "ioWeightPercent": 60}}]}
        classes["cgroupRoot"] = {"blkioQOS": {"enable": True, "blocks": [
            {"name": "/dev/vdb1", "type": "device", "ioCfg": {"readLatency": 4000}}]}}
        classes["lsClass"]["networkQOS"] = {"enable": True, "egressRequest": 50,
                                            "egressLimit": "8G"}
        classes["beClass"]["networkQOS"] = {"enable": True, "egressRequest": 10,
                                            "egressLimit": 30}
        classes["policies"] = {"cpuPolicy": self.cpu_policy}
        return {
            "resourceUsedThresholdWithBE": {
                "enable": True, "cpuSuppressThresholdPercent": 65,
                "cpuSuppressPolicy": self.suppress_policy,
                "memoryEvictThresholdPercent": 80, "memoryEvictLowerPercent": 76},
            "cpuBurstStrategy": {"policy": "auto", "sharePoolThresholdPercent": 50},
            "resourceQOSStrategy": classes,
            "systemStrategy": {
                "minFreeKbytesFactor": 100, "watermarkScaleFactor": 150, "memcgReapBackGround": 1,
                "schedIdleSaverWmark": 5000, "schedFeatures": {"HRTICK": True, "LB_BIAS": True},
                "pageCacheLimitEnabled": 1, "totalNetworkBandwidth": "10G"},
            "hostApplications": [{"name": "nginx", "qos": "LS", "priority": "koord-prod"},
                                 {"name": "logs", "qos": "BE", "priority": "koord-batch"}],
        }

    def gates(self):
        return ",".join(["AllAlpha=true", "BECPUManager=false",
                         f"CPUBurst={'true' if self.burst else 'false'}"])


SCENARIOS = [
    Scenario("cpuset and group identity"),
    Scenario("cfsQuota and core scheduling on a mainline kernel, memory short",
             suppress_policy="cfsQuota", cpu_policy="coreSched", anolis=False,
             usage=Usage(memory_percent=95)),
    Scenario("the kubelet gives out CPUs, a normalised and busy node after suppression",
             kubelet_static=True, be_is_narrow=True, burst=False, ratio=1.3,
             usage=Usage(system=0.25)),
    Scenario("a node that is overloaded", usage=Usage(system=9)),
]


class Golden(unittest.TestCase):
    koordlet = None

    def make_image(self, shape, layout, amd, scenario, pods):
        image = Image(shape, layout, amd, scenario.anolis, MEMORY)
        for qos in ("Guaranteed", "Burstable", "BestEffort"):
            image.add_cgroup(layout.qos_dir(qos))
        for directory in HOST_APPS.values():
            image.add_cgroup(directory.split("/")[0])
            image.add_cgroup(directory)
        for pod in pods:
            image.add_pod(pod)
            if pod.kube_qos == "BestEffort":
                for directory in ([layout.pod_dir(pod), layout.container_dir(pod, pod.sandbox_id)] +
                                  [layout.container_dir(pod, c.id) for c in pod.containers]):
                    image.set_cpuset(directory, scenario.be_cpus(shape))
            if scenario.quota(pod, 1) != 1:
                doubled = 2 * sum(c.cpu_limit for c in pod.containers) * 100
                for directory in (layout.pod_dir(pod),
                                  layout.container_dir(pod, pod.containers[0].id)):
                    image.set_quota(directory, doubled)
            if pod.name == "cached":
                image.add_resctrl_group(f"koordlet-{pod.uid}")
        image.set_cpuset(layout.qos_dir("BestEffort"), scenario.be_cpus(shape))
        for group in ("LSR", "LS", "BE"):
            image.add_resctrl_group(group)
        if scenario.kubelet_static:
            image.set("var/lib/kubelet/config.yaml", "cpuManagerPolicy: static")
            plain = next(p for p in pods if p.name == "plain")
            image.set("var/lib/kubelet/cpu_manager_state", json.dumps({
                "policyName": "static", "defaultCpuSet": "", "entries": {
                    plain.uid: {"main": cpu_list(scenario.kubelet_cpus)}}}))
        return image

    def write_inputs(self, directory, shape, scenario, pods):
        annotations = {
            "node.koordinator.sh/reservation": json.dumps({"reservedCPUs": str(RESERVED_CPU)}),
            "node.koordinator.sh/system-qos-resource": json.dumps({"cpuset": str(SYSTEM_CPU)}),
        }
        if scenario.ratio:
            annotations["node.koordinator.sh/cpu-normalization-ratio"] = str(scenario.ratio)
        cpus = str(len(shape.cpus))
        usage = scenario.usage

        def amounts(cores, memory=0):
            return {"resources": {"cpu": f"{round(cores * 1000)}m", "memory": str(memory)}}

        files = {
            "pods": {"items": [pod.manifest() for pod in pods]},
            "nodeslo": {"metadata": {"name": "n"}, "spec": scenario.slo()},
            "node": {"metadata": {"name": "n", "annotations": annotations},
                     "status": {"capacity": {"cpu": cpus, "memory": str(MEMORY)},
                                "allocatable": {"cpu": cpus, "memory": str(ALLOCATABLE)}}},
            "nodemetric": {"metadata": {"name": "n"}, "status": {
                "nodeMetric": {"nodeUsage": amounts(usage.node(pods), usage.memory(MEMORY)),
                               "systemUsage": amounts(usage.system)},
                "podsMetric": [{"name": p.name, "namespace": p.namespace,
                                "podUsage": amounts(p.usage, p.memory)} for p in pods],
                "hostApplicationMetric": [{"name": "nginx", "usage": amounts(usage.apps)},
                                          {"name": "logs", "usage": amounts(0)}]}},
        }
        arguments = []
        for name, content in files.items():
            path = pathlib.Path(directory, f"{name}.json")
            path.write_text(json.dumps(content))
            arguments += [f"--{name}-file", str(path)]
        return arguments

    def run_once(self, image, scenario, shape, pods, *more):
        with tempfile.TemporaryDirectory(prefix="koordlet-golden-", dir=IMAGES) as directory:
            root = pathlib.Path(directory, "machine")
            image.write(root)
            command = [self.koordlet, "--once", "--host-root", str(root), "-o", "json",
                       f"--feature-gates={scenario.gates()}", "--logtostderr=false",
                       "--stderrthreshold=3", *self.write_inputs(directory, shape, scenario, pods),
                       *more]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            files = {str(path.relative_to(root)): path.read_text()
                     for path in root.rglob("*") if path.is_file()}
            return files, json.loads(done.stdout)

    def check_files(self, found, expected):
        self.assertEqual(sorted(found), sorted(expected.files), "no file comes or goes")
        wrong = []
        for path, text in expected.files.items():
            if path.startswith("sys/fs/resctrl/"):
                continue
            if self.meaning(path, found, found[path]) != self.meaning(path, expected.files, text):
                wrong.append(f"{path}: expected {text.strip()!r}, found {found[path].strip()!r}")
        self.assertFalse(wrong, "\n" + "\n".join(wrong[:40]))

    @staticmethod
    def meaning(path, files, text):
        text = text.strip()
        if text == NO_LIMIT_V1:
            return "-1"
        if path.endswith("cpuset.cpus"):
            if not text:  # has what it inherits
                text = files[f"{path}.effective"]
            return formulas.parse_cpus(text)
        return text

    def check_resctrl(self, found, report, expected):
        written = {}
        for write in report["writes"]:
            if write["file"].endswith("/schemata"):
                written.setdefault(write["file"].split("/")[-2], []).append(write["new"])
        self.assertEqual(written, expected.schemata)
        for group, threads in expected.tasks.items():
            tasks = found[f"sys/fs/resctrl/{group}/tasks"].split()
            self.assertEqual(sorted(map(int, tasks)), sorted(threads), group)

    def check_network(self, report):
        classes = {}
        for command in report["commands"]:
            words = command.split()
            if words[:3] == ["tc", "class", "replace"]:
                options = dict(zip(words[5::1], words[6::1]))
                classes[options["classid"]] = (options["rate"], options["ceil"])
        total = 10_000_000_000 // 8
        self.assertEqual(classes, {
            "1:1": (f"{total}bps", f"{total}bps"),
            "1:2": (f"{total - total // 2 - total // 10}bps", f"{total}bps"),
            "1:3": (f"{total // 2}bps", "1000000000bps"),
            "1:4": (f"{total // 10}bps", f"{total * 3 // 10}bps")})

    def check(self, shape, layout, amd, scenario):
        pods = make_pods()
        image = self.make_image(shape, layout, amd, scenario, pods)
        expected = Expected(image, pods, scenario)
        found, report = self.run_once(image, scenario, shape, pods)
        self.check_files(found, expected)
        self.check_resctrl(found, report, expected)
        self.check_network(report)
        self.assertEqual([e["pod"] for e in report["evictions"]], expected.evictions())

    def test_every_file_on_every_layout(self):
        for scenario, version, driver, amd, nodes, smt in itertools.product(
                SCENARIOS, (1, 2), ("cgroupfs", "systemd"), (False, True), (1, 2, 3, 4),
                (False, True)):
            with self.subTest(scenario=scenario.name, cgroups=version, driver=driver,
                              vendor="AMD" if amd else "Intel", numa=nodes, smt=smt):
                self.check(Shape(nodes, smt), Layout(version, driver), amd, scenario)

    def test_a_dry_run_changes_nothing(self):
        shape, pods = Shape(2, True), make_pods()
        for version in (1, 2):
            image = self.make_image(shape, Layout(version, "systemd"), False, SCENARIOS[0], pods)
            found, report = self.run_once(image, SCENARIOS[0], shape, pods, "--dry-run")
            changed = [path for path in found if found[path] != image.files.get(path)]
            self.assertEqual(changed, [])
            self.assertEqual(sorted(found), sorted(image.files))
            self.assertTrue(report["writes"])
            self.assertTrue(report["decisions"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    Golden.koordlet = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
