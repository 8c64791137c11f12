#!/usr/bin/env python3
"""A cluster with a node leaves nothing on the machine, however it ends.

    tests/kubernetes/leftovers_test.py

Processes, mounts, control groups, network links, settings of the kernel and files at well-known
places are the same before and after. Clusters end by themselves, by a failing command, by SIGTERM,
and by `cluster.py stop` after a SIGKILL.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from cluster import ClusterError, exit_on_sigterm
from leftovers import compare, left
from machine import why_impossible
from report import Report, title

CLUSTER = pathlib.Path(__file__).with_name("cluster.py")
DEADLINE_S = 300
POD = ("kubectl run p --image=localhost/busybox:test --restart=Never && "
       "kubectl wait --for=condition=Ready pod/p --timeout=300s >/dev/null")


@contextlib.contextmanager
def run(directory, command):
    with subprocess.Popen([CLUSTER, "run", f"--dir={directory}", "--scheduler", "--node", "--",
                           "sh", "-c", command], stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.terminate()  # does nothing to one that has ended


def expect_status(child, expected):
    try:
        child.communicate(timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        raise ClusterError(f"still runs after {DEADLINE_S} s") from None
    if child.returncode != expected:
        raise ClusterError(f"ended with status {child.returncode}, expected {expected}")


def ends_by_itself(directory):
    with run(directory, POD) as child:
        expect_status(child, 0)


def ends_by_a_failure(directory):
    with run(directory, POD + " && exit 7") as child:
        expect_status(child, 7)


def wait_until_started(child):
    while line := child.stdout.readline():
        if line.strip() == "started":
            return
    raise ClusterError("the pod did not start")


def ends_by_sigterm(directory):
    with run(directory, POD + " && echo started && exec sleep 600") as child:
        wait_until_started(child)
        child.send_signal(signal.SIGTERM)
        expect_status(child, 128 + signal.SIGTERM)


def stopped_after_sigkill(directory):
    with run(directory, POD + " && echo started && exec sleep 600") as child:
        wait_until_started(child)
        children = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        child.send_signal(signal.SIGKILL)
        os.kill(int(children[-1]), signal.SIGKILL)  # the command is no part of the cluster
        expect_status(child, -signal.SIGKILL)
    if subprocess.run([CLUSTER, "stop", directory]).returncode != 0:
        raise ClusterError("cluster.py stop failed")


TESTS = [ends_by_itself, ends_by_a_failure, ends_by_sigterm, stopped_after_sigkill]


def check(test):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="koord-leftovers-"))
    directory.rmdir()
    before = left(directory)
    test(directory)
    if problems := compare(before, left(directory)):
        raise ClusterError("\n     ".join(problems))


def main():
    report = Report()
    why = why_impossible()
    for test in TESTS:
        if why:
            report.skip(title(test), why)
        else:
            report.run(check, test, name=title(test))
    return report.end()


if __name__ == "__main__":
    exit_on_sigterm()
    sys.exit(main())
