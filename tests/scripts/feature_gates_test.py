#!/usr/bin/python3
"""The tables of feature gates tell the truth: a gate is said to have no effect if, and only if,
nothing in its program reads it."""

import re
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src"
PROGRAMS = {"scheduler": "scheduler/config/scheduler_gates.cc",
            "manager": "manager/config/manager_gates.cc",
            "koordlet": "koordlet/config/koordlet_gates.cc"}
# Kubernetes' own, of which nearly all are other programs'.
IDLE = re.compile("Idle|Kubernetes")
GATE = re.compile(r'^ +{(?:"(\w+)"|(k\w+)), ', re.MULTILINE)


def tables(path):
    """The names in each table of a file, those of constants without their quotes."""
    for name, body in re.findall(r"FeatureGate (k\w+)\[\] = {\n(.*?)\n};", path.read_text(), re.DOTALL):
        yield name, ["".join(found) for found in GATE.findall(body)]


def code(program, besides):
    files = [path for folder in (program, "model") for path in (SOURCES / folder).rglob("*.[ch]*")
             if path.suffix in (".cc", ".h")]
    return "\n".join(path.read_text() for path in files
                     if path != besides and not re.search("_(test|testing|bench|fuzz)\\.", path.name))


class FeatureGates(unittest.TestCase):
    def test_what_is_read_has_an_effect_and_nothing_else(self):
        for program, file in PROGRAMS.items():
            path = SOURCES / file
            text = code(program, path)
            found = dict(tables(path))
            self.assertTrue(any(IDLE.search(table) for table in found), program)
            for table, gates in found.items():
                self.assertTrue(gates, f"{program}: {table}")
                for gate in gates:
                    with self.subTest(program=program, gate=gate):
                        name = gate if gate.startswith("k") else f'"{gate}"'
                        if IDLE.search(table):
                            reads = re.search(rf"(Enabled\(|, ){re.escape(name)}\)", text)
                            self.assertFalse(reads, "move it to those that have an effect")
                        else:
                            self.assertIn(name, text, "move it to those without effect")


if __name__ == "__main__":
    unittest.main()
