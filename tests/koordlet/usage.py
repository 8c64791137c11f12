"""What the machine and cgroups use by the kernel's own counters, over any span of the past."""

import bisect
import os
import threading
import time

from kubepods import ROOT, read

STEP_S = 0.1
WINDOW_S = 1.0  # what koordlet measures over
USED_FIELDS = (0, 1, 2, 5, 6)  # user, nice, system, irq, softirq
TICKS = os.sysconf("SC_CLK_TCK")


def node_seconds():
    fields = read("/proc/stat").split("\n", 1)[0].split()[1:]
    return sum(int(fields[i]) for i in USED_FIELDS) / TICKS


def node_memory():
    """Bytes in use, without what can be reclaimed."""
    lines = dict(line.split(":") for line in read("/proc/meminfo").split("\n"))
    total, available = (int(lines[key].split()[0]) for key in ("MemTotal", "MemAvailable"))
    return (total - available) * 1024


def cgroup_seconds(directory):
    return int(read(ROOT / "cpuacct" / directory / "cpuacct.usage")) / 1e9


def steps(first, last):
    count = max(int((last - first) / STEP_S), 0)
    return [first + i * STEP_S for i in range(count)] + [max(first, last)]


class Usage:
    """Samples counters until it is closed."""

    def __init__(self, directories):
        self._directories = directories  # name: cgroup
        self._times, self._samples = [], []
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._sample()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self):
        self._stop.set()
        self._thread.join()

    def cores(self, name, begin, end):
        """Average between two moments; `name` is "node" or one of the directories."""
        (t0, before), (t1, after) = self._at(begin), self._at(end)
        return (after[name] - before[name]) / max(t1 - t0, STEP_S)

    def average(self, name, begins, ends):
        """(smallest, largest) average over all spans that begin and end in these ranges."""
        averages = [self.cores(name, begin, end)
                    for begin in steps(*begins) for end in steps(*ends)]
        return min(averages), max(averages)

    def memory(self, begin, end):
        """(smallest, largest) of the node's memory."""
        with self._lock:
            values = [s["memory"] for t, s in zip(self._times, self._samples) if begin <= t <= end]
        return min(values), max(values)

    def windows(self, begin, end):
        """All spans of koordlet's length between two moments."""
        with self._lock:
            ends = [t for t in self._times if begin + WINDOW_S <= t <= end]
        return [(t - WINDOW_S, t) for t in ends]

    def _at(self, moment):
        with self._lock:
            i = min(bisect.bisect_left(self._times, moment), len(self._times) - 1)
            return self._times[i], self._samples[i]

    def _sample(self):
        now = time.monotonic()
        sample = {name: cgroup_seconds(where) for name, where in self._directories.items()}
        sample["node"], sample["memory"] = node_seconds(), node_memory()
        with self._lock:
            self._times.append(now)
            self._samples.append(sample)

    def _run(self):
        while not self._stop.wait(STEP_S):
            self._sample()
