#!/usr/bin/env python3
"""A cluster with a node leaves nothing on the machine, however it ends.

    tests/kubernetes/leftovers_test.py

Processes, mounts, control groups, network links, settings of the kernel and files at well-known
places are the same before and after. Clusters end by themselves, by a failing command, by SIGTERM,
and by `cluster.py stop` after a SIGKILL.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from machine import CGROUPS, DIRECTORIES, SETTINGS, why_impossible

CLUSTER = pathlib.Path(__file__).with_name("cluster.py")
DEADLINE_S = 180
POD = ("kubectl run p --image=localhost/busybox:test --restart=Never && "
       "kubectl wait --for=condition=Ready pod/p --timeout=60s >/dev/null")


def left(directory):
    """What is on the machine that a test might have left; processes are those of `directory`."""
    processes = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes()
        except OSError:
            continue
        # Shims of containers have the socket's path only, which is the same for all machines.
        if str(directory).encode() in arguments or b"containerd-shim" in arguments:
            processes.add(arguments.replace(b"\0", b" ").decode(errors="replace"))
    return {
        "process": processes,
        "mount": set(pathlib.Path("/proc/mounts").read_text().splitlines()),
        "control group": {str(p) for p in CGROUPS.glob("*/*") if p.is_dir()},
        "network link": set(os.listdir("/sys/class/net")),
        "setting": {f"{s}={(pathlib.Path('/proc/sys') / s).read_text().strip()}" for s in SETTINGS},
        "file": {str(p) for d in DIRECTORIES for p in pathlib.Path(d).glob("*")} |
                {d for d in DIRECTORIES if os.path.exists(d)},
        "directory": {str(directory)} if directory.exists() else set(),
    }


def compare(before, after):
    return [f"{kind} {'left' if item in after[kind] else 'lost'}: {item[:200]}"
            for kind in before for item in sorted(before[kind] ^ after[kind])]


def run(directory, command):
    return subprocess.Popen([CLUSTER, "run", f"--dir={directory}", "--scheduler", "--node", "--",
                             "sh", "-c", command], stdout=subprocess.PIPE, text=True)


def ends_by_itself(directory):
    child = run(directory, POD)
    child.communicate(timeout=DEADLINE_S)
    assert child.returncode == 0, f"status {child.returncode}"


def ends_by_a_failure(directory):
    child = run(directory, POD + " && exit 7")
    child.communicate(timeout=DEADLINE_S)
    assert child.returncode == 7, f"status {child.returncode}"


def interrupted(directory, sent):
    child = run(directory, POD + " && echo started && exec sleep 600")
    while line := child.stdout.readline():
        if line.strip() == "started":
            break
    assert line, "the pod did not start"
    children = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
    child.send_signal(sent)
    os.kill(int(children[-1]), signal.SIGTERM)
    child.wait(DEADLINE_S)


def ends_by_sigterm(directory):
    interrupted(directory, signal.SIGTERM)


def stopped_after_sigkill(directory):
    interrupted(directory, signal.SIGKILL)
    subprocess.run([CLUSTER, "stop", directory], check=True)


def main():
    if why := why_impossible():
        print(f"SKIP: {why}")
        return 0
    failed = 0
    for test in (ends_by_itself, ends_by_a_failure, ends_by_sigterm, stopped_after_sigkill):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="koord-leftovers-"))
        directory.rmdir()
        before, start = left(directory), time.monotonic()
        try:
            test(directory)
            problems = compare(before, left(directory))
        except (AssertionError, subprocess.SubprocessError, OSError) as error:
            problems = [str(error)]
        failed += bool(problems)
        name = test.__name__.replace("_", " ")
        print(f"{'FAIL' if problems else 'ok  '} {name} ({time.monotonic() - start:.0f} s)")
        for problem in problems:
            print(f"     {problem}")
    print(f"{4 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
