#!/usr/bin/python3
"""What a local cluster costs while it runs: memory, CPU and disk, minute by minute, and how many of
its nodes are Ready.

    tests/bench/local_cluster.py build/bin/koord                 # all cases
    tests/bench/local_cluster.py build/bin/koord --case demo --minutes 3
    tests/bench/local_cluster.py build/bin/koord --busy 4        # beside four busy processes

Each row is one minute: memory and disk at its end, the CPU of that minute, and how fast the cluster's
time passed, which is slower than asked for where the machine is busy. The last row counts: it is
compared with the bounds below, and the program fails if they are not kept. Bounds on CPU are for
machines that have time: with `--busy` CPU is shown and not compared.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from datetime import datetime

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "clients"))

from harness.api import Api  # noqa: E402
from run import LocalCluster  # noqa: E402

MIB = 1 << 20
ROW = "{:<8} {:>7} {:>12} {:>8} {:>10} {:>9} {:>8}"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


class Case:
    def __init__(self, arguments, minutes, cpu_percent, memory_mib, disk_mb):
        self.arguments, self.minutes = arguments, minutes
        self.cpu_percent, self.memory_mib, self.disk_mb = cpu_percent, memory_mib, disk_mb


CASES = {
    "idle": Case(["--nodes", "20"], 2, 2, 60, 40),
    "large": Case(["--nodes", "5000"], 6, 10, 800, 150),
    "demo": Case(["--demo", "--speed", "240"], 10, 12, 120, 60),
}


class Process:
    """What the kernel knows of a process."""

    def __init__(self, pid):
        self._folder = pathlib.Path("/proc") / str(pid)

    def cpu_seconds(self):
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self):
        return self._status("VmRSS") / 1024

    def peak_mib(self):
        return self._status("VmHWM") / 1024

    def _status(self, name):
        for line in (self._folder / "status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        raise LookupError(name)


def disk_mb(folder):
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 1e6


def ready_nodes(api):
    """(how many are Ready, how many there are)"""
    nodes = api.get("Node")["items"]
    ready = sum(any(c["type"] == "Ready" and c["status"] == "True"
                    for c in node["status"].get("conditions", [])) for node in nodes)
    return ready, len(nodes)


def cluster_seconds(api):
    """The cluster's time, as its nodes tell it."""
    leases = api.request("GET", LEASES).has_status(200).json()["items"]
    latest = max(lease["spec"]["renewTime"] for lease in leases)
    return datetime.fromisoformat(latest.replace("Z", "+00:00")).timestamp()


@contextlib.contextmanager
def busy_processes(count):
    children = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def measure(name, case, koord, minutes):
    """Prints a row per minute; the last one's figures."""
    with tempfile.TemporaryDirectory(prefix="koord-bench-") as temporary:
        directory = pathlib.Path(temporary)
        begin = time.monotonic()
        with LocalCluster(koord, directory, case.arguments, in_memory=False) as cluster:
            process, api = Process(cluster.pid), Api(cluster.kubeconfig, directory)
            print(ROW.format(name, "start", f"{time.monotonic() - begin:.1f} s",
                             "", f"{process.memory_mib():.0f} MiB", "", ""), flush=True)
            figures = {}
            for minute in range(1, minutes + 1):
                date, cpu, since = cluster_seconds(api), process.cpu_seconds(), time.monotonic()
                time.sleep(60)
                span = time.monotonic() - since
                figures = {"cpu": 100 * (process.cpu_seconds() - cpu) / span,
                           "memory": process.memory_mib(),
                           "disk": disk_mb(cluster.kubeconfig.parent),
                           "speed": (cluster_seconds(api) - date) / span}
                ready, all_nodes = ready_nodes(api)
                figures["not_ready"] = all_nodes - ready
                print(ROW.format(name, minute, f"{ready}/{all_nodes}", f"{figures['cpu']:.1f} %",
                                 f"{figures['memory']:.0f} MiB", f"{figures['disk']:.0f} MB",
                                 f"{figures['speed']:.1f}"), flush=True)
            print(ROW.format(name, "peak", "", "", f"{process.peak_mib():.0f} MiB", "", ""))
            return figures


def complaints(name, case, figures, busy):
    bounds = [("memory", case.memory_mib, "MiB"), ("disk", case.disk_mb, "MB"),
              ("not_ready", 0, "nodes not Ready")]
    if not busy:
        bounds.append(("cpu", case.cpu_percent, "% of a core"))
    return [f"{name}: {figures[what]:.1f} {unit}, and not {bound}"
            for what, bound, unit in bounds if figures[what] > bound]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("koord", help="the program")
    parser.add_argument("--case", action="append", choices=CASES, help="default: all")
    parser.add_argument("--minutes", type=int, help="instead of the case's own")
    parser.add_argument("--busy", type=int, default=0, metavar="N",
                        help="keep N processes busy meanwhile")
    options = parser.parse_args()
    print(ROW.format("case", "minute", "nodes ready", "CPU", "memory", "disk", "speed"))
    failures = []
    with busy_processes(options.busy):
        for name in options.case or CASES:
            case = CASES[name]
            figures = measure(name, case, options.koord, options.minutes or case.minutes)
            failures += complaints(name, case, figures, options.busy)
    for failure in failures:
        print(f"too much: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
