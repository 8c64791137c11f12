"""Runs tests, several at a time, and reports each in one line."""

import dataclasses
import queue
import sys
import threading
import time
import traceback

from .check import Failure
from .context import Context
from .suite import leftovers

REMOVAL_DEADLINE_S = 600


@dataclasses.dataclass
class Run:
    """One test with one client."""
    test: object
    kubectl: object  # None for a test of the Python client
    namespace: str = ""

    @property
    def name(self):
        return f"{self.test.name} [{self.kubectl.version if self.kubectl else 'python'}]"


def plan(tests, kubectls, python):
    """Every test with every client that it is for."""
    runs = []
    for test in tests:
        if test.python:
            runs += [Run(test, None)] if python else []
        else:
            runs += [Run(test, k) for k in kubectls if test.since <= k.minor <= test.until]
    return runs


class Runner:
    def __init__(self, suite, run_id, running_nodes, deadline, verbose):
        """`deadline` is how many seconds a test may wait for something to become so."""
        self._suite, self._prefix = suite, f"clients-{run_id}-"
        self._running_nodes, self._deadline, self._verbose = running_nodes, deadline, verbose
        self._lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.failures = []

    def run(self, runs, workers):
        """The tests that want the cluster for themselves run after all others, one by one."""
        for number, run in enumerate(runs):
            run.namespace = f"{self._prefix}{number}"
        self._run_pool([run for run in runs if not run.test.alone], workers)
        self._run_pool([run for run in runs if run.test.alone], 1)
        self.check("namespaces are removed", self._wait_for_removal)

    def check(self, name, function, *arguments):
        """Reports something that is no test of a client, but must hold, too."""
        start, problem = time.monotonic(), attempt(function, *arguments)
        self._report("FAIL" if problem else "ok", name, f"{time.monotonic() - start:.2f}s", problem)

    def _run_pool(self, runs, workers):
        pending = queue.SimpleQueue()
        for run in runs:
            pending.put(run)
        threads = [threading.Thread(target=self._work, args=(pending,)) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _work(self, pending):
        while True:
            try:
                run = pending.get_nowait()
            except queue.Empty:
                return
            self._run_one(run)

    def _run_one(self, run):
        reason = self._reason_to_skip(run.test)
        if reason:
            return self._report("skip", run.name, reason)
        log, start = [], time.monotonic()
        context = Context(self._suite, run.namespace, run.kubectl, log.append, self._deadline)
        problem = attempt(context.open) or attempt(run.test.function, context)
        left_behind = attempt(context.close)
        problem = problem or left_behind
        self._report("FAIL" if problem else "ok", run.name, f"{time.monotonic() - start:.2f}s",
                     problem, log)

    def _reason_to_skip(self, test):
        if test.only_on and self._suite.cluster not in test.only_on:
            return "; ".join(f"only on {name}: {why}" for name, why in test.only_on.items())
        if test.running_nodes and not self._running_nodes:
            return "the cluster runs no pods"
        return None

    def _report(self, outcome, name, note, problem=None, log=()):
        with self._lock:
            self.passed += outcome == "ok"
            self.failed += outcome == "FAIL"
            self.skipped += outcome == "skip"
            print(f"{outcome:4} {name}: {note}")
            if problem:
                self.failures.append(name)
                print(indent(problem))
            if self._verbose:
                for answer in log:
                    print(indent(f"$ {' '.join(answer.command)}\n{answer.stdout}{answer.stderr}"))
            sys.stdout.flush()

    def _wait_for_removal(self):
        """A cluster must be able to remove what the tests made."""
        end = time.monotonic() + REMOVAL_DEADLINE_S
        while left := leftovers(self._suite.api, self._prefix):
            if time.monotonic() > end:
                raise Failure(f"still there after {REMOVAL_DEADLINE_S} s: {' '.join(left)}")
            time.sleep(0.2)


def attempt(function, *arguments):
    """What went wrong, as text, or None."""
    try:
        function(*arguments)
        return None
    except Failure as failure:
        return f"{failure}\n{where(failure)}"
    except Exception:  # a test that breaks is a failed test
        return traceback.format_exc()


def where(failure):
    """The line of the test that failed."""
    frames = [f for f in traceback.extract_tb(failure.__traceback__) if "test_" in f.filename]
    return "".join(f"at {f.filename}:{f.lineno}\n" for f in frames[:1])


def indent(text):
    return "\n".join(f"     {line}" for line in text.rstrip().splitlines())
