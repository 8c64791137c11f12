"""The cgroups that a kubelet with the cgroupfs driver makes, in this machine's real hierarchies.

Processes are put into CPU hierarchies, and those that measure memory into its hierarchy, too.
Everything is removed again, also what an earlier run has left that was killed.
"""

import ctypes
import fcntl
import os
import pathlib
import signal
import subprocess
import sys

from waiting import wait_until

ROOT = pathlib.Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory")
QOS_CLASSES = ("burstable", "besteffort")
# Below it nobody but this test has made anything.
MARK = "koordlet-real-cgroups-test"
MEMORY_LIMIT = 1 << 30  # of all processes of the test together
PR_SET_PDEATHSIG = 1

BURN = "while True: pass"
HOLD = """
import signal
held = bytearray({bytes})
held[::4096] = b"x" * len(held[::4096])
print("ready", flush=True)
signal.pause()
"""
ENTER = """
import os, sys
for group in sys.argv[1:]:
    with open(group + "/cgroup.procs", "w") as procs: procs.write(str(os.getpid()))
"""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def all_cpus():
    return read(ROOT / "cpuset" / "cpuset.cpus")


def read(path):
    return pathlib.Path(path).read_text().strip()


def take_machine():
    """What others cannot have while this holds it; None: another run of the test has it."""
    held = os.open(ROOT / "cpu", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


def why_not():
    """What keeps the test from running here, or None."""
    if os.geteuid() != 0:
        return "only root may make cgroups"
    for controller in CONTROLLERS:
        mounted = ROOT / controller
        if not (mounted / "cgroup.procs").exists() or not (mounted / "tasks").exists():
            return f"{mounted} is not a cgroup v1 hierarchy"
        if not os.access(mounted, os.W_OK):
            return f"{mounted} is read-only"
        kubepods = mounted / "kubepods"
        if kubepods.exists() and not (kubepods / MARK).exists():
            return f"{kubepods} exists: somebody else's pods run here"
    if take_machine() is None:  # else it is held until the end
        return "another run of this test has the machine"
    return None


class Process:
    """A process in cgroups: it burns CPU, or holds memory."""

    def __init__(self, work, groups):
        self._child = subprocess.Popen(
            [sys.executable, "-c", ENTER + work, *map(str, groups)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        self._groups, self._holds = groups, work != BURN

    def started(self):
        """Waits until it does its work."""
        if self._holds:
            assert self._child.stdout.readline() == b"ready\n", self._child.poll()
        else:
            pid = str(self._child.pid)
            wait_until(lambda: pid in read(self._groups[-1] / "cgroup.procs").split(),
                       f"process {pid} is in {self._groups[-1]}")
        return self

    def stop(self):
        self._child.kill()
        self._child.wait()
        self._child.stdout.close()


class Kubepods:
    def __init__(self):
        self._processes = []
        remove_tree()
        for controller in CONTROLLERS:
            self._make(controller, "kubepods")
            self._make(controller, f"kubepods/{MARK}")
            for qos in QOS_CLASSES:
                self._make(controller, f"kubepods/{qos}")
        self.write("memory", "kubepods", "memory.limit_in_bytes", MEMORY_LIMIT)
        self.give_shares()
        # LS comes before BE.
        self.write("cpu", "kubepods/burstable", "cpu.shares", 20480)
        self.write("cpu", "kubepods/besteffort", "cpu.shares", 2)

    def close(self):
        for process in self._processes:
            process.stop()
        remove_tree()

    def add_pod(self, qos, uid, containers, quota=-1):
        """The directories of a pod; each container has its quota, and the pod their sum."""
        for controller in CONTROLLERS:
            directory = f"kubepods/{qos}/pod{uid}"
            self._make(controller, directory)
            for container in containers:
                self._make(controller, f"{directory}/{container}")
                if controller == "cpu" and quota > 0:
                    self.write("cpu", f"{directory}/{container}", "cpu.cfs_quota_us", quota)
            if controller == "cpu" and quota > 0:
                self.write("cpu", directory, "cpu.cfs_quota_us", quota * len(containers))

    def remove_pod(self, qos, uid):
        for controller in CONTROLLERS:
            remove_below(ROOT / controller / "kubepods" / qos / f"pod{uid}")

    def give_shares(self, shares=8192):
        """How much pods get on a machine that does other work."""
        self.write("cpu", "kubepods", "cpu.shares", shares)

    def burn(self, directory, count=1):
        """Processes that use a whole CPU each, where they get one."""
        groups = [ROOT / c / directory for c in ("cpu", "cpuacct", "cpuset")]
        return [self._start(BURN, groups) for _ in range(count)]

    def hold(self, directory, size):
        """A process that holds `size` bytes of memory."""
        return self._start(HOLD.format(bytes=size), [ROOT / c / directory for c in CONTROLLERS])

    def quota(self, directory):
        return int(self.read("cpu", directory, "cpu.cfs_quota_us"))

    def cpus(self, directory):
        return self.read("cpuset", directory, "cpuset.cpus")

    def read(self, controller, directory, name):
        return read(ROOT / controller / directory / name)

    def write(self, controller, directory, name, value):
        (ROOT / controller / directory / name).write_text(str(value))

    def _start(self, work, groups):
        self._processes.append(Process(work, groups))
        return self._processes[-1].started()

    def _make(self, controller, directory):
        (ROOT / controller / directory).mkdir()
        if controller == "cpuset":  # version 1 does not inherit them
            self.write(controller, directory, "cpuset.mems", read(ROOT / "cpuset/cpuset.mems"))
            self.write(controller, directory, "cpuset.cpus", all_cpus())


def remove_tree():
    for controller in CONTROLLERS:
        kubepods = ROOT / controller / "kubepods"
        if not kubepods.exists():
            continue
        # The mark goes last, so that what is left is known if this is killed.
        for child in sorted(kubepods.iterdir()):
            if child.is_dir() and child.name != MARK:
                remove_below(child)
        remove_below(kubepods)


def remove_below(top):
    directories = [pathlib.Path(found) for found, _, _ in os.walk(top, topdown=False)]
    for directory in directories:
        wait_until(lambda directory=directory: removed(directory), f"{directory} is removed")


def removed(directory):
    try:
        directory.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        return False  # its last process is not quite gone
    return True
