"""How tests end: a line for each, and numbers at last.

    report = Report()
    report.run(test, argument)                  "ok   test (3 s)", or FAIL and what was wrong
    report.run_steps(STEPS, world, explain)     steps that build on each other
    report.skip("what", "why")
    sys.exit(report.end())

SKIP tells what was not run, and on the next line why; run.sh sums this up at its end.
"""

import time
import traceback

from cluster import ClusterError

NOT_RUN = 77  # the exit status of a part of which nothing could be run


class Report:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def run(self, test, *arguments, name=None, explain=None):
        """Counts `test` as passed unless it raises something; tells whether it passed.

        What it returns is printed, and after a failure what `explain` returns.
        """
        name, start = name or title(test), time.monotonic()
        try:
            told = test(*arguments)
        except Exception as error:  # a test that breaks is a failed test
            self.failed += 1
            text = error if isinstance(error, ClusterError) else traceback.format_exc()
            print(f"FAIL {name} ({time.monotonic() - start:.0f} s)\n     {text}", flush=True)
            if explain:
                print(explain(), flush=True)
            return False
        self.passed += 1
        took = f"({time.monotonic() - start:.0f} s)"
        print(f"ok   {name}{f': {told}' if told else ''} {took}", flush=True)
        return True

    def run_steps(self, steps, argument, explain):
        """Runs `steps`, which build on each other: those after one that fails are not run."""
        for number, step in enumerate(steps, start=1):
            if not self.run(step, argument, explain=explain):
                for other in steps[number:]:
                    self.skip(title(other), f"{title(step)} failed")
                return

    def skip(self, name, why):
        self.skipped += 1
        print(f"SKIP {name}\n     {why}", flush=True)

    def end(self):
        """Prints the numbers; returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        if self.failed:
            return 1
        return 0 if self.passed or not self.skipped else NOT_RUN


def title(test):
    return test.__name__.replace("_", " ")
