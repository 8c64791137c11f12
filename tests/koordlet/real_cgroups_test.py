#!/usr/bin/python3
"""koordlet on this machine's own cgroups, with processes that burn CPU and hold memory.

    tests/koordlet/real_cgroups_test.py build/bin/koord build/bin/koordlet [Strategies|Reports|Cost]

Needs root and cgroup v1 hierarchies of cpu, cpuacct, cpuset and memory in which no kubelet has pods
(exit status 77 otherwise). Other work on the machine does not matter: expectations follow from the
kernel's counters over the same time.
"""

import math
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import kubepods  # noqa: E402
from node import NODE, Machine, unix_time  # noqa: E402
from usage import Usage, node_memory  # noqa: E402
from waiting import wait_until  # noqa: E402

SKIPPED = 77
BE, LS = "kubepods/besteffort", "kubepods/burstable"
CPUS = len(kubepods.read("/proc/stat").split("\ncpu")) - 1
PERIOD_S = 1  # of CPU suppression, and of the measuring before it
PERIOD_US = 100_000
THRESHOLD = 60
# Twice what there is: a full machine then leaves BE a fifth of it beside what BE itself uses, so
# that suppression shows no matter what else runs here.
CAPACITY = 2 * CPUS
# Koordlet reads counters one after the other, a little before or after this test does.
SLACK_CORES = 0.1
RECENT_S = 3.5
BUSY_SHARES = 64 * 1024
SEED = 7


def say(text):
    print(f"    {text}", flush=True)


class RealCgroups(unittest.TestCase):
    koord = koordlet = None

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="koordlet-real-")
        cls.addClassCleanup(temporary.cleanup)
        cls.machine = Machine(cls.koord, cls.koordlet, pathlib.Path(temporary.name))
        cls.addClassCleanup(cls.machine.close)
        cls.tree = cls.machine.kubepods
        cls.machine.set_capacity(CAPACITY)

    def setUp(self):
        self.machine.set_slo()

    # Helpers

    def add_pod(self, *arguments, **named):
        pod, container = self.machine.add_pod(*arguments, **named)
        self.addCleanup(self.machine.remove_pod, pod)
        return pod, container

    def burn(self, container, count):
        processes = self.tree.burn(container, count)
        for process in processes:
            self.addCleanup(process.stop)
        return processes

    def watch_usage(self, **more):
        usage = Usage({"be": BE, "ls": LS, **more})
        self.addCleanup(usage.close)
        return usage

    def start(self):
        """A koordlet that runs its strategies."""
        koordlet = self.machine.start()
        self.addCleanup(koordlet.kill)
        wait_until(koordlet.acts, lambda: f"koordlet acts: {koordlet.end_of_log()}")
        return koordlet

    def be_formula(self, usage, begin, end, capacity=CAPACITY, threshold=THRESHOLD):
        """(least, most) cores that the formula gives BE by what was used between two moments."""
        values = []
        for window in usage.windows(begin, end):
            node, ls, be = (usage.cores(name, *window) for name in ("node", "ls", "be"))
            system = max(node - ls - be, 0)
            values.append(min(capacity * threshold / 100 - ls - system, capacity))
        return (min(values) - SLACK_CORES, max(values) + SLACK_CORES) if values else None

    def quota_follows(self, usage, since, threshold=THRESHOLD):
        """The quota of BE if it is what the formula gives by recent usage, not before `since`."""
        now = time.monotonic()
        between = self.be_formula(usage, max(since, now - RECENT_S), now,
                                  threshold=threshold)
        quota = self.tree.quota(BE)
        unwritten = CAPACITY * 0.01  # smaller changes are not written
        if between is None or quota < 0:
            return None
        cores = quota / PERIOD_US
        return cores if between[0] - unwritten <= cores <= between[1] + unwritten else None

    def has_defaults(self, *directories):
        return (self.tree.quota(BE) == -1 and
                all(self.tree.cpus(each) == kubepods.all_cpus() for each in (BE, *directories)))


class Strategies(RealCgroups):
    def test_cpu_quota_of_be_follows_what_ls_uses(self):
        _, ls = self.add_pod("ls", "LS")
        _, be = self.add_pod("be", "BE")
        self.burn(be, CPUS)
        usage = self.watch_usage()
        self.machine.set_slo({"enable": True, "cpuSuppressPolicy": "cfsQuota",
                              "cpuSuppressThresholdPercent": THRESHOLD})
        began = time.monotonic()
        koordlet = self.start()
        wait_until(lambda: self.quota_follows(usage, began), "BE has what the formula gives")

        burners = self.burn(ls, CPUS)
        ramped = time.monotonic()
        low, took = wait_until(lambda: self.quota_follows(usage, ramped),
                               "BE is suppressed to what the formula gives")
        say(f"LS ramps up: BE has {low:.2f} cores, {took:.1f} s later (periods of {PERIOD_S} s)")
        wait_until(lambda: usage.cores("be", time.monotonic() - 1, time.monotonic()) <=
                   self.tree.quota(BE) / PERIOD_US + SLACK_CORES, "BE uses no more than that")
        low = self.tree.quota(BE) / PERIOD_US

        for burner in burners:
            burner.stop()
        ended = time.monotonic()
        high, took = wait_until(
            lambda: (found := self.quota_follows(usage, ended)) and found > low + 0.2 and found,
            lambda: f"BE recovers from {low} cores: {self.tree.quota(BE)}")
        say(f"LS stops: BE has {high:.2f} instead of {low:.2f} cores {took:.1f} s later")

        koordlet.kill()
        self.assertGreater(self.tree.quota(BE), 0, "what is killed leaves its value")
        self.machine.set_slo()
        self.start()
        _, took = wait_until(lambda: self.has_defaults(self.machine.pods["be"], be),
                             "a restart without the policy restores defaults")
        say(f"policy removed while koordlet was dead: defaults {took:.1f} s after the restart")

    def test_switching_the_policy_off_restores_defaults(self):
        _, be = self.add_pod("be", "BE")
        self.burn(be, 1)
        policy = {"enable": True, "cpuSuppressPolicy": "cfsQuota",
                  "cpuSuppressThresholdPercent": THRESHOLD}
        self.machine.set_slo(policy)
        koordlet = self.start()
        wait_until(lambda: self.tree.quota(BE) > 0, "BE is suppressed")
        self.machine.set_slo({**policy, "cpuSuppressPolicy": "cpuset"})
        wait_until(lambda: self.tree.quota(BE) == -1, "the other policy takes the quota back")
        self.machine.set_slo(policy)
        wait_until(lambda: self.tree.quota(BE) > 0, "BE is suppressed again")
        self.machine.set_slo({**policy, "enable": False})
        _, took = wait_until(lambda: self.has_defaults(self.machine.pods["be"], be),
                             "defaults are back")
        say(f"policy off: defaults {took:.1f} s later")
        self.assertEqual(koordlet.stop(), 0)
        self.assertTrue(self.has_defaults(self.machine.pods["be"], be), "stopping changes nothing")
        self.assertEqual(koordlet.complaints(), [])

    def test_cpus_of_be_follow_what_ls_uses(self):
        _, ls = self.add_pod("ls", "LS")
        _, be = self.add_pod("be", "BE")
        be_pod = self.machine.pods["be"]
        self.burn(be, CPUS)
        for directory in (be, be_pod, BE):  # from the bottom up, as the kernel demands
            self.tree.write("cpuset", directory, "cpuset.cpus", "0")
        self.machine.set_capacity(CPUS)
        self.addCleanup(self.machine.set_capacity, CAPACITY)
        usage = self.watch_usage()
        policy = {"enable": True, "cpuSuppressPolicy": "cpuset", "cpuSuppressThresholdPercent": 100}
        self.machine.set_slo(policy)
        self.start()

        def follows(since):
            now = time.monotonic()
            between = self.be_formula(usage, max(since, now - RECENT_S), now, CPUS, 100)
            if between is None:
                return None
            least, most = (max(math.ceil(cores), 2) for cores in between)
            sets = [self.tree.cpus(each) for each in (BE, be_pod, be)]
            return sets[0] if len(set(sets)) == 1 and least <= size_of(sets[0]) <= most else None

        found, took = wait_until(lambda: follows(0), "BE has as many CPUs as the formula gives")
        say(f"BE grows from CPU 0 to {found} in {took:.1f} s")
        if CPUS > 2:
            before = size_of(found)
            self.burn(ls, CPUS)
            ramped = time.monotonic()
            found, took = wait_until(lambda: follows(ramped), "BE loses CPUs")
            say(f"LS ramps up: BE has {found} of {before} CPUs {took:.1f} s later")
        else:
            say(f"skipped: taking CPUs from BE, which never has less than 2, of {CPUS} CPUs")
        self.machine.set_slo({**policy, "enable": False})
        wait_until(lambda: self.has_defaults(be_pod, be), "all CPUs are back")

    def test_cpu_burst_raises_and_restores_the_quota_of_a_throttled_container(self):
        ls, container, policy = self.add_burst_pod()
        self.machine.set_slo(burst=policy)
        self.start()
        _, took = wait_until(lambda: self.quotas_of(ls, container) == (60000, 60000),
                             lambda: f"the quota is three times the limit: "
                                     f"{self.quotas_of(ls, container)}")
        say(f"throttled container: quota 20000 -> 60000 in {took:.1f} s")
        self.machine.set_slo()
        _, took = wait_until(lambda: self.quotas_of(ls, container) == (20000, 20000),
                             "the quota is the limit again")
        say(f"policy removed: quota 60000 -> 20000 in {took:.1f} s")

    def add_burst_pod(self):
        """A throttled LS pod. BE burns beside it and displaces all else, as only what is neither BE
        nor idle keeps koordlet from raising quotas."""
        self.tree.give_shares(BUSY_SHARES)
        self.addCleanup(self.tree.give_shares)
        _, be = self.add_pod("be", "BE")
        self.burn(be, CPUS)
        _, container = self.add_pod("ls", "LS", limit_milli=200)
        self.burn(container, 1)
        policy = {"policy": "cfsQuotaBurstOnly", "cfsQuotaBurstPercent": 300,
                  "cfsQuotaBurstPeriodSeconds": -1, "sharePoolThresholdPercent": 100}
        return self.machine.pods["ls"], container, policy

    def quotas_of(self, pod, container):
        return self.tree.quota(pod), self.tree.quota(container)

    def test_killed_at_any_point_it_converges_to_the_same(self):
        ls, container, burst = self.add_burst_pod()
        usage = self.watch_usage()
        # So much that BE keeps the CPUs busy of which LS shares the rest.
        self.machine.set_slo({"enable": True, "cpuSuppressPolicy": "cfsQuota",
                              "cpuSuppressThresholdPercent": 100}, burst)
        chance = random.Random(SEED)
        for _ in range(5):
            koordlet = self.machine.start()
            self.addCleanup(koordlet.kill)
            if chance.random() < 0.6:
                wait_until(koordlet.acts, "koordlet acts")
            threading.Event().wait(chance.uniform(0, 3))  # the point at which it is killed
            koordlet.kill()
        # Between the two writes of a step: the pod has it already.
        self.tree.write("cpu", ls, "cpu.cfs_quota_us", self.tree.quota(ls) + 5000)
        began = time.monotonic()
        self.start()
        wait_until(lambda: self.quotas_of(ls, container) == (60000, 60000),
                   lambda: f"the quota is what it would have been: {self.quotas_of(ls, container)}")
        wait_until(lambda: self.quota_follows(usage, began, 100),
                   "BE has what the formula gives")
        self.machine.set_slo()
        wait_until(lambda: self.quotas_of(ls, container) == (20000, 20000), "the limit is back")
        wait_until(lambda: self.has_defaults(self.machine.pods["be"]), "defaults are back")
        say("killed 5 times: quotas 60000 and the formula's, and defaults without policies")

    def test_memory_eviction_takes_the_right_pod(self):
        # In the order in which they have to go: by priority, then the largest first.
        sizes = {"large": (600 << 20, "real-batch-low"), "small": (32 << 20, "real-batch-low"),
                 "important": (64 << 20, "real-batch-high")}
        holders = {}
        for name in sorted(sizes):
            size, priority = sizes[name]
            _, container = self.add_pod(name, "BE", priority=priority)
            holders[name] = self.tree.hold(container, size)
            self.addCleanup(holders[name].stop)
        self.add_pod("ls", "LS")
        usage = self.watch_usage()
        self.start()
        # Nine tenths are used, and 6 % of the whole must go: less than the large one has.
        begin, capacity = time.monotonic(), node_memory() * 100 // 90
        self.addCleanup(self.machine.set_capacity, CAPACITY)
        self.machine.set_capacity(CAPACITY, capacity)
        self.machine.set_slo({"enable": True, "memoryEvictThresholdPercent": 85,
                              "memoryEvictLowerPercent": 84, "cpuSuppressThresholdPercent": 100})

        def evicted():
            items = self.machine.api.get("Pod", namespace="default")["items"]
            left = [item["metadata"]["name"] for item in items
                    if "deletionTimestamp" not in item["metadata"]]
            return [name for name in (*sizes, "ls") if name not in left]
        found, took = wait_until(evicted, "a pod is evicted")
        self.machine.set_slo()
        holders["large"].stop()
        # Other work on the machine may need memory meanwhile.
        most = usage.memory(begin, time.monotonic())[1] * 100 // capacity
        release = capacity * (most - 84) // 100
        expected = []
        for name, (size, _) in sizes.items():
            if release > 0:
                expected.append(name)
            release -= size
        say(f"memory is short: evicted {', '.join(found)} after {took:.1f} s")
        self.assertEqual(found, expected[:len(found)])

        def told():
            events = self.machine.api.get("Event", namespace="default")["items"]
            return [e for e in events if e["reason"] == "evictPodSuccess"]
        events, _ = wait_until(told, "the eviction is told")
        self.assertEqual(events[0]["involvedObject"]["name"], "large")
        self.assertIn("trigger by koordlet feature BEMemoryEvict", events[0]["message"])
        self.assertNotIn("ls", evicted())


class Reports(RealCgroups):
    """They leave time to other work on the machine."""

    def test_node_metric_has_true_usage(self):
        _, ls = self.add_pod("ls", "LS", limit_milli=500)
        self.add_pod("idle", "LS")
        self.burn(ls, 1)
        held = 64 << 20
        holder = self.tree.hold(ls, held)
        self.addCleanup(holder.stop)
        usage = self.watch_usage(pod=self.machine.pods["ls"])
        began = time.monotonic()
        self.start()
        acted = time.monotonic()

        def report():
            status = self.machine.api.get("NodeMetric", NODE).get("status", {})
            updated = status.get("updateTime")
            return updated and unix_time(updated) > began + 10 and status
        status, took = wait_until(report, "NodeMetric is reported")
        end = unix_time(status["updateTime"])
        # It measures from some moment of its start on, or over the last minute.
        begin, begins = max(began, end - 60), (max(began, end - 61), max(acted + 2, end - 59))
        node = amounts_of(status["nodeMetric"]["nodeUsage"])
        pods = {pod["name"]: amounts_of(pod["podUsage"]) for pod in status["podsMetric"]}
        true_node, true_pod = (usage.average(name, begins, (end - 2, end + 1))
                               for name in ("node", "pod"))
        least, most = usage.memory(begin, end)
        say(f"NodeMetric after {took:.0f} s: node {node['cpu']:.2f} cores (true {spelt(true_node)}), "
            f"pod {pods['ls']['cpu']:.3f} (true {spelt(true_pod)}), "
            f"node {node['memory'] >> 20} MiB (true {least >> 20} to {most >> 20}), "
            f"pod {pods['ls']['memory'] >> 20} MiB (holds {held >> 20})")
        self.assertTrue(within(node["cpu"], true_node, 0.1))
        self.assertTrue(within(pods["ls"]["cpu"], true_pod, 0.03))
        self.assertTrue(0.99 * least <= node["memory"] <= 1.01 * most)
        self.assertTrue(held <= pods["ls"]["memory"] <= held + (32 << 20))
        self.assertEqual(pods["idle"]["cpu"], 0)


class Cost(RealCgroups):
    """No part of `make test`: what koordlet costs depends on the machine. It says how much, and what
    docs/performance.md promises."""

    def test_cost_with_110_pods(self):
        for i in range(110):
            self.add_pod(f"pod-{i:03}", "BE" if i % 2 else "LS", containers=3)
        self.machine.set_slo({"enable": True, "cpuSuppressPolicy": "cfsQuota",
                              "cpuSuppressThresholdPercent": THRESHOLD},
                             {"policy": "auto", "sharePoolThresholdPercent": 50})
        koordlet = self.start()
        # Other work on the machine makes caches cold, which costs as much again.
        shares = [self.share_of_a_core(koordlet, span=10) for _ in range(3)]
        resident = koordlet.resident_bytes() / (1 << 20)
        say(f"110 pods of 3 containers: {', '.join(f'{100 * each:.2f}' for each in shares)} % of a "
            f"core (should be below 1), {resident:.1f} MiB resident (should be below 25)")

    def share_of_a_core(self, koordlet, span):
        """CPU time that it uses over so many seconds, by these."""
        begin, before = time.monotonic(), koordlet.cpu_seconds()
        wait_until(lambda: time.monotonic() >= begin + span, "the span is over")
        return (koordlet.cpu_seconds() - before) / (time.monotonic() - begin)


def spelt(span):
    return f"{span[0]:.3f} to {span[1]:.3f}"


def within(value, span, slack):
    """Whether a value is in a span, but for a tenth and the slack."""
    return 0.9 * span[0] - slack <= value <= 1.1 * span[1] + slack


def size_of(cpus):
    ends = [part.split("-") for part in cpus.split(",")]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def amounts_of(usage):
    """Cores and bytes of what a NodeMetric says."""
    cpu, memory = usage["resources"]["cpu"], usage["resources"]["memory"]
    cores = int(cpu[:-1]) / 1000 if cpu.endswith("m") else int(cpu)
    units = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
    size = int(memory[:-2]) * units[memory[-2:]] if memory[-2:] in units else int(memory)
    return {"cpu": cores, "memory": size}


TESTS = Strategies, Reports


def main():
    reason = kubepods.why_not()
    if reason:
        for tests in TESTS:
            for name in unittest.TestLoader().getTestCaseNames(tests):
                print(f"skipped: {name}: {reason}")
        return SKIPPED
    RealCgroups.koord, RealCgroups.koordlet = sys.argv.pop(1), sys.argv.pop(1)
    try:  # the harness keeps its connections until the end, which is no reason to warn
        done = unittest.main(verbosity=2, exit=False, warnings="ignore")
        return 0 if done.result.wasSuccessful() else 1
    except KeyboardInterrupt:
        return 1
    finally:
        for tests in TESTS:
            tests.doClassCleanups()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
