#!/usr/bin/python3
"""The tutorials in docs/ stay true: their commands are run against the cluster that they describe.

    tests/clients/tutorial_test.py build/bin/koord

Blocks marked `console` hold commands after a "$ " and what they print. Each command is repeated until
it prints every line that is shown, in that order, or a deadline passes. Numbers, times and the random
parts of names may differ; a line "..." stands for any others.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
sys.path.insert(0, str(FOLDER))

from run import LocalCluster  # noqa: E402

DEADLINE_S = 300
# Each with what `koord up` is told.
TUTORIALS = {"tutorial.md": ("--demo", "--speed", "240"),  # as `make up` runs it
             "reservations.md": ("--nodes", "3"),
             "cpus.md": ("--nodes", "1", "--node-shape", "cpu=16,memory=32Gi,numa=2"),
             "quotas.md": ("--nodes", "3")}


class Command:
    def __init__(self, text, line):
        self.text, self.line, self.output = text, line, []


def commands_of(markdown):
    """The commands of all console blocks, in order, each with the lines that follow it."""
    commands, inside = [], False
    for number, line in enumerate(markdown.splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            commands.append(Command(line[2:], number))
        elif inside and commands and commands[-1].text.endswith("\\"):
            commands[-1].text = commands[-1].text[:-1] + line.strip()
        elif inside and line.startswith("> "):
            commands[-1].text += "\n" + line[2:]
        elif inside and commands:
            commands[-1].output.append(line)
    return commands


def shape(line):
    """A line without what differs from run to run."""
    line = re.sub(r"\b([a-z]+(?:-[a-z]+)*?)-[b-df-hj-np-tv-xz2-9]{5,10}(?:-[b-df-hj-np-tv-xz2-9]{5})?\b", r"\1-X", line)
    line = re.sub(r"[#=.]{20}", "BAR", line)
    line = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "T", line)
    line = re.sub(r"(\d+(\.\d+)?(Ti|Gi|Mi|Ki|m|k|d|h|s|%)?)+", "N", line)
    return " ".join(line.split())


def missing(expected, printed):
    """The first expected line that does not come, in order; None if all do."""
    lines = iter([shape(line) for line in printed.splitlines()])
    for line in expected:
        if line.strip() in ("", "..."):
            continue
        if not any(shape(line) == found for found in lines):
            return line
    return None


class Shapes(unittest.TestCase):
    def test_what_differs_does_not_count(self):
        for one, other in (
                ("report-x2v9k-8h5wd   1/1  Running  0  3m", "report-ccccc-bbbbb 1/1  Running 12 47s"),
                ("cpu    [####====............] used 250 (39%)", "cpu [#...................] used 9.5 (1%)"),
                ("node-07 Ready 5m", "node-11 Ready 47s")):
            self.assertEqual(shape(one), shape(other))

    def test_words_count(self):
        self.assertNotEqual(shape("report-x2v9k Running"), shape("report-x2v9k Pending"))
        self.assertIsNotNone(missing(["b", "a"], "a\nb\n"))
        self.assertIsNone(missing(["a", "...", "c 1"], "a\nb\nc 22\n"))


class Tutorial(unittest.TestCase):
    program = None

    def run_until_shown(self, page, command, environment):
        end = time.monotonic() + DEADLINE_S
        while True:
            done = subprocess.run(["bash", "-c", command.text], cwd=ROOT, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=DEADLINE_S)
            lacks = missing(command.output, done.stdout)
            if done.returncode == 0 and lacks is None:
                return
            if time.monotonic() > end:
                self.fail(f"docs/{page}:{command.line}: $ {command.text}\n"
                          f"exit code {done.returncode}, no line like: {lacks}\n{done.stdout}")
            time.sleep(1)

    def test_co_location(self):
        self.follow("tutorial.md")

    def test_reservations(self):
        self.follow("reservations.md")

    def test_cpus(self):
        self.follow("cpus.md")

    def test_quotas(self):
        self.follow("quotas.md")

    def follow(self, page):
        commands = commands_of((ROOT / "docs" / page).read_text())
        self.assertGreater(len(commands), 5)
        with tempfile.TemporaryDirectory(prefix="koord-tutorial-") as directory, \
                LocalCluster(self.program, pathlib.Path(directory), TUTORIALS[page]) as cluster:
            kubectl = subprocess.check_output([ROOT / "scripts" / "kubectl.sh"], text=True).strip()
            programs = [str(pathlib.Path(self.program).parent), str(pathlib.Path(kubectl).parent)]
            environment = dict(os.environ, KUBECONFIG=str(cluster.kubeconfig),
                               PATH=":".join(programs + [os.environ["PATH"]]))
            for command in commands:
                with self.subTest(command=command.text):
                    self.run_until_shown(page, command, environment)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Tutorial.program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
