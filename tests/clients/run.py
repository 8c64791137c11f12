#!/usr/bin/python3
"""Drives a cluster with real clients: kubectl of any version, and the Python client.

The tests say what a user of Kubernetes sees. They hold on real Kubernetes:

    tests/kubernetes/cluster.py run --controller-manager --scheduler -- tests/clients/run.py

and on the local cluster, which this starts and stops by itself:

    tests/clients/run.py --koord build/bin/koord --kubectl "$(scripts/kubectl.sh)"

Every test has a namespace of its own and removes what it made. Pods are run by the tests
themselves (see harness/kubelet.py), so that they behave the same on every cluster.
"""

import argparse
import contextlib
import fnmatch
import importlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from harness.api import Api  # noqa: E402
from harness.kubectl import Kubectl  # noqa: E402
from harness.registry import TESTS  # noqa: E402
from harness.runner import Runner, plan  # noqa: E402
from harness.suite import Suite  # noqa: E402

START_DEADLINE_S = 30
STOP_DEADLINE_S = 10


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG"),
                        help="the cluster to test, default $KUBECONFIG")
    parser.add_argument("--koord", metavar="PROGRAM",
                        help="start a local cluster with this program, test it, stop it")
    parser.add_argument("--cluster", choices=["kubernetes", "koord"], default="kubernetes",
                        help="what answers behind --kubeconfig, default kubernetes")
    parser.add_argument("--nodes", choices=["none", "simulated"], default="none",
                        help="whether nodes of the cluster itself run pods, default none")
    parser.add_argument("--kubectl", action="append", metavar="PROGRAM",
                        help="may be repeated; default the one on $PATH")
    parser.add_argument("--python", action=argparse.BooleanOptionalAction, default=True,
                        help="test with the Python client, too")
    parser.add_argument("-k", dest="patterns", action="append", metavar="PATTERN",
                        help="only tests whose name contains this, or matches it (*, ?)")
    parser.add_argument("-j", dest="workers", type=int, default=4, help="tests at a time")
    parser.add_argument("-v", dest="verbose", action="store_true", help="show each command")
    parser.add_argument("--list", action="store_true", help="print the tests, run none")
    return parser.parse_args(arguments)


def load_tests(patterns, python):
    for path in sorted(FOLDER.glob("test_*.py")):
        if python or not path.stem.startswith("test_python"):  # which need the Python client
            importlib.import_module(path.stem)
    wanted = patterns or ["*"]
    return [t for t in TESTS if any(fnmatch.fnmatch(t.name, f"*{p}*") for p in wanted)]


@contextlib.contextmanager
def local_cluster(program, directory):
    """Starts `koord up`, yields its kubeconfig once the cluster is ready, and stops it."""
    data = directory / "koord"
    with open(directory / "koord.log", "wb") as log:
        child = subprocess.Popen(
            [program, "up", "--in-memory", "--nodes", "3", "--port", "0", "--data-dir", data],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_until_ready(child, data / "kubeconfig", directory)
        yield data / "kubeconfig"
        if child.poll() is not None:
            print(f"koord ended with status {child.returncode}; the end of its log:")
            print((directory / "koord.log").read_text(errors="replace")[-4000:])
    finally:
        stop(child)


def wait_until_ready(child, kubeconfig, directory):
    end = time.monotonic() + START_DEADLINE_S
    while child.poll() is None and time.monotonic() < end:
        try:
            if Api(kubeconfig, directory).request("GET", "/readyz").status == 200:
                return
        except (OSError, LookupError, TypeError):
            pass  # no kubeconfig, half of one, or nobody listens yet
        time.sleep(0.05)
    log = (directory / "koord.log").read_text(errors="replace")
    sys.exit(f"run.py: koord up is not ready (status {child.poll()}):\n{log}")


def stop(child):
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            print(f"koord did not stop within {STOP_DEADLINE_S} s of SIGINT")
            child.kill()
            child.wait()


def run_tests(options, runs_for, kubeconfig, cluster, running_nodes, directory):
    run_id = f"{random.randrange(16**6):06x}"
    kubectls = [Kubectl(program, kubeconfig, directory) for program in options.kubectl]
    suite = Suite(cluster, kubeconfig, directory, run_id)
    runner = Runner(suite, run_id, running_nodes, options.verbose)
    try:
        runner.run(runs_for(kubectls), options.workers)
    finally:
        suite.close()
    for name in runner.failures:
        print(f"failed: {name}")
    print(f"{runner.passed} passed, {runner.failed} failed, {runner.skipped} skipped")
    return 1 if runner.failed else 0


def main(arguments):
    options = parse(arguments)
    tests = load_tests(options.patterns, options.python)
    if options.list:
        print("\n".join(test.name for test in tests))
        return 0
    if not tests:
        sys.exit("run.py: no test has such a name; --list prints them")
    options.kubectl = options.kubectl or [found for found in [shutil.which("kubectl")] if found]
    if not options.koord and not options.kubeconfig:
        sys.exit("run.py: give --koord PROGRAM, or --kubeconfig FILE of a cluster that is running")

    def runs_for(kubectls):
        return plan(tests, kubectls, options.python)

    with tempfile.TemporaryDirectory(prefix="koord-clients-") as temporary:
        directory = pathlib.Path(temporary)
        if not options.koord:
            return run_tests(options, runs_for, options.kubeconfig, options.cluster,
                             options.nodes == "simulated", directory)
        with local_cluster(options.koord, directory) as kubeconfig:
            return run_tests(options, runs_for, kubeconfig, "koord", True, directory)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(sys.argv[1:]))
