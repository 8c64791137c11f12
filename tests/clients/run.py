#!/usr/bin/python3
"""Drives a cluster with real clients: kubectl of any version, and the Python client.

The tests say what a user of Kubernetes sees. They hold on real Kubernetes:

    tests/kubernetes/cluster.py run --controller-manager --scheduler -- tests/clients/run.py

and on the local cluster, which this starts and stops by itself:

    tests/clients/run.py --koord build/bin/koord

Every test has a namespace of its own and removes what it made. Pods are run by the tests
themselves (see harness/kubelet.py), so that they behave the same on every cluster.
"""

import argparse
import fnmatch
import importlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from harness.api import Api  # noqa: E402
from harness.check import Failure  # noqa: E402
from harness.kubectl import Kubectl  # noqa: E402
from harness.registry import TESTS  # noqa: E402
from harness.runner import Runner, plan  # noqa: E402
from harness.suite import Suite  # noqa: E402

# Long enough for any machine: they only end what would never come.
START_DEADLINE_S = 300
STOP_DEADLINE_S = 120


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
                        help="may be repeated; default Debian's")
    parser.add_argument("--python", action=argparse.BooleanOptionalAction, default=True,
                        help="test with the Python client, too")
    parser.add_argument("-k", dest="patterns", action="append", metavar="PATTERN",
                        help="only tests whose name contains this, or matches it (*, ?)")
    parser.add_argument("--deadline", type=float, default=120, metavar="SECONDS",
                        help="how long a test waits for something to become so, default 120")
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


def debian_kubectl():
    script = FOLDER.parents[1] / "scripts" / "kubectl.sh"
    return subprocess.run([script], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


# koord-manager would remove what tests make in the name of nodes that do not exist.
ARGUMENTS = ("--nodes", "3", "--without", "manager")


class LocalCluster:
    """A `koord up` that this run has started; a second one in the same directory goes on where the
    first ended, if `in_memory` is not set."""

    def __init__(self, program, directory, arguments=ARGUMENTS, in_memory=True):
        self.kubeconfig = directory / "koord" / "kubeconfig"
        self._token = directory / "koord" / "pki" / "admin.token"
        self._directory, self._log = directory, directory / "koord.log"
        with open(self._log, "wb") as log:
            self._child = subprocess.Popen(
                [program, "up", *(["--in-memory"] if in_memory else []), "--port", "0",
                 "--data-dir", self.kubeconfig.parent, *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        end = time.monotonic() + START_DEADLINE_S
        while not self._ready():
            if self._child.poll() is not None or time.monotonic() > end:
                self._child.kill()
                sys.exit(f"run.py: koord up is not ready after {START_DEADLINE_S} s, or ended "
                         f"(status {self._child.wait()})\n{self._end_of_log()}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()

    @property
    def pid(self):
        return self._child.pid

    def admin_token(self):
        return self._token.read_text().strip()

    def _ready(self):
        try:
            return Api(self.kubeconfig, self._directory).request("GET", "/readyz").status == 200
        except (OSError, LookupError, TypeError):
            return False  # no kubeconfig, half of one, or nobody listens yet

    def stop(self):
        """Ends it as Ctrl-C does, and checks that it ends well."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGINT)
            try:
                self._child.wait(STOP_DEADLINE_S)
            except subprocess.TimeoutExpired:
                raise Failure(f"still runs {STOP_DEADLINE_S} s after SIGINT") from None
        if self._child.returncode != 0:
            raise Failure(f"exit status {self._child.returncode}\n{self._end_of_log()}")

    def _end_of_log(self):
        return self._log.read_text(errors="replace")[-4000:]


def run_tests(options, tests, directory, local=None):
    kubeconfig = local.kubeconfig if local else options.kubeconfig
    cluster = "koord" if local else options.cluster
    run_id = f"{random.randrange(16**6):06x}"
    kubectls = [Kubectl(program, kubeconfig, directory) for program in options.kubectl]
    suite = Suite(cluster, kubeconfig, directory, run_id)
    runner = Runner(suite, run_id, local or options.nodes == "simulated", options.deadline,
                    options.verbose)
    try:
        runner.run(plan(tests, kubectls, options.python), options.workers)
    finally:
        runner.check("the suite's own objects are removed", suite.close)
    if local:
        runner.check("the local cluster stops", local.stop)
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
    if not options.koord and not options.kubeconfig:
        sys.exit("run.py: give --koord PROGRAM, or --kubeconfig FILE of a cluster that is running")
    options.kubectl = options.kubectl or [debian_kubectl()]
    with tempfile.TemporaryDirectory(prefix="koord-clients-") as temporary:
        directory = pathlib.Path(temporary)
        if not options.koord:
            return run_tests(options, tests, directory)
        with LocalCluster(options.koord, directory) as local:
            return run_tests(options, tests, directory, local)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(sys.argv[1:]))
