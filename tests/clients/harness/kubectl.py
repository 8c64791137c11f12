"""A kubectl of some version, and what a call of it answered."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import threading
import time

from .check import Failure, contains_lines, differences, lines_match, text_difference, text_pattern

CALL_DEADLINE_S = 600


class Kubectl:
    """One program, with a home directory (and so a discovery cache) of its own."""

    def __init__(self, program, kubeconfig, directory):
        self.program = pathlib.Path(program)
        self._environment = {
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(kubeconfig),
        }
        self.version = self._client_version(directory)
        self.minor = int(self.version.split(".")[1])
        home = pathlib.Path(directory) / f"home-{self.version}"
        home.mkdir(exist_ok=True)
        self._environment["HOME"] = str(home)
        self._environment["KUBECACHEDIR"] = str(home / "cache")

    def _client_version(self, directory):
        done = subprocess.run(
            [self.program, "version", "--client", "-o", "json"], capture_output=True, text=True,
            env={**self._environment, "HOME": str(directory)}, check=True)
        return re.match(r"v?(\d+\.\d+)", json.loads(done.stdout)["clientVersion"]["gitVersion"])[1]

    def run(self, arguments, input=None, environment=None):
        """Runs to the end; the answer may be a failure."""
        command = [str(self.program), *map(str, arguments)]
        if input is not None and not isinstance(input, str):
            input = json.dumps(input)
        try:
            done = subprocess.run(
                command, input=input, text=True, capture_output=True, timeout=CALL_DEADLINE_S,
                stdin=subprocess.DEVNULL if input is None else None,
                env={**self._environment, **(environment or {})})
        except subprocess.TimeoutExpired as expired:
            raise Failure(f"{shlex.join(command)}\nstill runs after {CALL_DEADLINE_S} s\n"
                          f"stdout: {expired.stdout}\nstderr: {expired.stderr}") from None
        return Answer(command, input, done.returncode, done.stdout, done.stderr)

    def start(self, arguments, deadline):
        return Background([str(self.program), *map(str, arguments)], self._environment, deadline)


class Answer:
    """What a call printed. Each expectation returns the answer, so that they can be chained."""

    def __init__(self, command, input, code, stdout, stderr):
        self.command, self.input = command, input
        self.code, self.stdout, self.stderr = code, stdout, stderr

    def fail(self, expected):
        """Raises the failure of an expectation of this answer."""
        text = [f"$ {shlex.join(self.command)}"]
        if self.input is not None:
            text.append(f"stdin: {self.input}")
        text += [f"expected: {expected}", f"exit code: {self.code}",
                 f"stdout: {self.stdout.rstrip()}", f"stderr: {self.stderr.rstrip()}"]
        raise Failure("\n".join(text))

    def succeeds(self):
        return self if self.code == 0 else self.fail("exit code 0")

    def exits(self, code):
        return self if self.code == code else self.fail(f"exit code {code}")

    def prints(self, expected):
        """stdout is this text, apart from the width of columns."""
        return self._matches("stdout", self.stdout, expected)

    def complains(self, expected):
        """stderr is this text."""
        return self._matches("stderr", self.stderr, expected)

    def _matches(self, stream, actual, expected):
        if not lines_match(actual, expected):
            self.fail(f"{stream} to be\n{text_difference(expected, actual)}")
        return self

    def contains(self, *expected):
        """stdout has each of these runs of lines (a line may be part of one)."""
        for text in expected:
            if not contains_lines(self.stdout, text):
                self.fail(f"stdout to contain\n{text}")
        return self

    def lacks(self, *unexpected):
        for text in unexpected:
            if contains_lines(self.stdout, text):
                self.fail(f"stdout not to contain\n{text}")
        return self

    def mentions(self, *expected):
        """stderr has each of these texts."""
        for text in expected:
            if not contains_lines(self.stderr, text):
                self.fail(f"stderr to contain\n{text}")
        return self

    def json(self):
        try:
            return json.loads(self.stdout)
        except ValueError:
            return self.fail("JSON")

    def holds(self, expected):
        """stdout is a JSON object that holds `expected`."""
        found = differences(self.json(), expected)
        return self.fail("JSON with\n  " + "\n  ".join(found)) if found else self


class Background:
    """A kubectl that goes on, such as `get -w`."""

    def __init__(self, command, environment, deadline):
        self._command, self._deadline = command, deadline
        self._lines, self._changed = [], threading.Condition()
        self._child = subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._child.stdout:
            with self._changed:
                self._lines.append(line)
                self._changed.notify_all()

    def wait_for(self, expected, again=None):
        """Returns once the expected lines have been printed, in this order, others between.

        `again` is called each second until then.
        """
        patterns = [text_pattern(" ".join(line.split())) for line in expected.splitlines()
                    if line.strip()]
        end = time.monotonic() + self._deadline
        with self._changed:
            while not self._in_order(patterns):
                left = end - time.monotonic()
                if not self._changed.wait(max(min(left, 1), 0)) and again is not None:
                    again()
                if left <= 0:
                    raise Failure(f"$ {shlex.join(self._command)}\nexpected: {expected}\n"
                                  f"printed within {self._deadline} s: {''.join(self._lines)}")

    def _in_order(self, patterns):
        lines = iter(" ".join(line.split()) for line in self._lines)
        return all(any(re.search(pattern, line) for line in lines) for pattern in patterns)

    def wait(self):
        """Waits for the end and returns (exit code, all that was printed)."""
        try:
            self._child.wait(self._deadline)
        except subprocess.TimeoutExpired:
            raise Failure(f"$ {shlex.join(self._command)}\nstill runs after {self._deadline} s, "
                          f"printed: {''.join(self._lines)}") from None
        self._reader.join()
        return self._child.returncode, "".join(self._lines)

    def running(self):
        return self._child.poll() is None

    def stop(self):
        if self.running():
            self._child.terminate()
        self._child.wait()
        self._reader.join()
        self._child.stdout.close()
