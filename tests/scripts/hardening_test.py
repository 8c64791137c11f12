#!/usr/bin/python3
"""The programs are hardened as cmake/Toolchain.cmake asks for.

    tests/scripts/hardening_test.py build/compile_commands.json build/bin/koord build/bin/koordlet ...

What a program shows by itself is read from it. What leaves no trace there (how variables start,
checks of the standard library) is read from the commands that compile the sources.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

SKIPPED = 77
# Of the flags that one pattern matches the last one counts, and has to be this.
FLAGS = {
    r"-[DU]_FORTIFY_SOURCE(=.*)?": "-D_FORTIFY_SOURCE=3",
    r"-[DU]_GLIBCXX_ASSERTIONS": "-D_GLIBCXX_ASSERTIONS",
    r"-f(no-)?stack-protector(-.*)?": "-fstack-protector-strong",
    r"-f(no-)?stack-clash-protection": "-fstack-clash-protection",
    r"-fcf-protection=.*": "-fcf-protection=full",
    r"-ftrivial-auto-var-init=.*": "-ftrivial-auto-var-init=zero",
}


def readelf(program, *options):
    return subprocess.run(["readelf", "--wide", *options, program], check=True,
                          capture_output=True, text=True).stdout


def imports(program):
    """Names of the functions that libraries are to provide."""
    return {match[1] for match in re.finditer(r" UND (\w+)", readelf(program, "--dyn-syms"))}


class Hardening(unittest.TestCase):
    commands, programs = None, ()

    def for_each_program(self, check):
        self.assertTrue(self.programs)
        for program in self.programs:
            with self.subTest(program=pathlib.Path(program).name):
                check(program)

    def test_programs_are_loaded_anywhere(self):
        def check(program):
            self.assertRegex(readelf(program, "--file-header"), r"Type: +DYN ")
            self.assertRegex(readelf(program, "--dynamic"), r"FLAGS_1\).*\bPIE\b")
        self.for_each_program(check)

    def test_their_tables_of_functions_cannot_be_written(self):
        def check(program):
            self.assertRegex(readelf(program, "--program-headers"), r"(?m)^ +GNU_RELRO ")
            self.assertRegex(readelf(program, "--dynamic"), r"FLAGS_1\).*\bNOW\b")
        self.for_each_program(check)

    def test_no_memory_can_be_written_and_run(self):
        def check(program):
            headers = readelf(program, "--program-headers")
            self.assertRegex(headers, r"(?m)^ +GNU_STACK .* RW +0x")
            self.assertNotRegex(headers, r"(?m)^ +LOAD .* RWE +0x")
        self.for_each_program(check)

    def test_stacks_are_guarded_and_copies_checked(self):
        def check(program):
            names = imports(program)
            self.assertIn("__stack_chk_fail", names)
            checked = {name for name in names if re.fullmatch(r"__\w+_chk", name)}
            self.assertIn("__memcpy_chk", checked)
        self.for_each_program(check)

    def test_every_source_is_compiled_with_all_flags(self):
        units = json.loads(pathlib.Path(self.commands).read_text())
        self.assertTrue(units)
        for unit in units:
            words = shlex.split(unit["command"])
            for pattern, wanted in FLAGS.items():
                found = [word for word in words if re.fullmatch(pattern, word)]
                self.assertEqual(found[-1:], [wanted], f"{unit['file']}: {pattern}")


if __name__ == "__main__":
    if sys.argv[1] == "--skip":
        print(f"skipped: {sys.argv[2]}")
        sys.exit(SKIPPED)
    Hardening.commands, *Hardening.programs = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
