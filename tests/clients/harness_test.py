#!/usr/bin/python3
"""The expectations of the client tests can fail: what they accept and what they do not."""

import re
import unittest

from harness.check import ABSENT, contains_lines, differences, lines_match


class Text(unittest.TestCase):
    def test_a_table_is_compared_without_the_width_of_its_columns(self):
        expected = """
            NAME   AGE
            a      <<AGE>>
        """
        self.assertTrue(lines_match("NAME  AGE\na     2m5s\n", expected))
        for other in ("NAME  AGE\na     soon\n", "NAME  AGE\n", "NAME  AGE\na  1s\nb  1s\n",
                      "NAME  AGES\na  1s\n"):
            self.assertFalse(lines_match(other, expected), other)

    def test_outside_of_placeholders_all_is_literal(self):
        self.assertTrue(lines_match("a.b (x)", "a.b (x)"))
        self.assertFalse(lines_match("a-b (x)", "a.b (x)"))
        self.assertTrue(lines_match("pod-4fz2x", "pod-<<SUFFIX>>"))
        self.assertFalse(lines_match("pod-4fz2a", "pod-<<SUFFIX>>"))  # no vowels there
        self.assertTrue(lines_match("7 of 9", "<<[0-9]>> of <<[0-9]>>"))

    def test_contained_lines_follow_each_other(self):
        text = "one\ntwo\nthree\n"
        self.assertTrue(contains_lines(text, "two\nthree"))
        self.assertTrue(contains_lines(text, "wo"))
        self.assertFalse(contains_lines(text, "one\nthree"))
        self.assertFalse(contains_lines(text, "four"))


class Objects(unittest.TestCase):
    def test_a_subset_is_enough(self):
        self.assertEqual(differences({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 2}}), [])

    def test_differences_name_the_path(self):
        for actual, expected, path in (
                ({"a": {"b": 1}}, {"a": {"b": 2}}, ".a.b"),
                ({"a": {}}, {"a": {"b": 2}}, ".a.b"),
                ({"a": [1, 2]}, {"a": [1, 3]}, ".a[1]"),
                ({"a": [1]}, {"a": [1, 2]}, ".a"),
                ({"a": 1}, {"a": ABSENT}, ".a"),
                ({"a": "1"}, {"a": 1}, ".a"),
                ({"a": 1}, {"a": True}, ".a"),
                ({"a": None}, {"a": {}}, ".a"),
                ({"a": "x"}, {"a": re.compile("^y")}, ".a"),
                ({"a": 3}, {"a": lambda value: value > 3}, ".a")):
            found = differences(actual, expected)
            self.assertEqual([line.split(":")[0] for line in found], [path], (actual, expected))


if __name__ == "__main__":
    unittest.main()
