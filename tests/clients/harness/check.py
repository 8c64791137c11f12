"""Expectations: text with placeholders, and subsets of objects."""

import difflib
import json
import re

# What stands in for text that differs from run to run, written <<NAME>> in an expected text.
# Any other <<...>> is a regular expression.
PLACEHOLDERS = {
    "AGE": r"(?:\d+[smhdy])+",
    "ANY": r".*",
    "TIME": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z",
    "UID": r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "SUFFIX": r"[bcdfghjklmnpqrstvwxz2456789]{5}",
    "HASH": r"[bcdfghjklmnpqrstvwxz2456789]{8,10}",
}


class Failure(Exception):
    """An expectation that does not hold; the text is for the person who reads the report."""


def text_pattern(expected):
    """The regular expression that an expected text with placeholders stands for."""
    parts = re.split(r"<<(.*?)>>", expected)
    literal = [re.escape(part) for part in parts[0::2]]
    wild = [f"(?:{PLACEHOLDERS.get(part, part)})" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(literal, wild + [""]))


def normal_lines(text):
    """Lines without the width of columns, which varies with what they hold, and without indent."""
    lines = [re.sub(r" {2,}|\t+", "  ", line.strip()) for line in text.strip("\n").splitlines()]
    return [line for line in lines if line]


def lines_match(actual, expected):
    actual, expected = normal_lines(actual), normal_lines(expected)
    return len(actual) == len(expected) and all(
        re.fullmatch(text_pattern(e), a) for a, e in zip(actual, expected))


def contains_lines(actual, expected):
    """Whether the expected lines occur in the actual ones, in this order and without a gap."""
    actual, expected = normal_lines(actual), normal_lines(expected)
    patterns = [text_pattern(line) for line in expected]
    return any(
        all(re.search(p, a) for p, a in zip(patterns, actual[start:]))
        for start in range(len(actual) - len(expected) + 1))


class Absent:
    """As an expected value: the key must not be there."""

    def __repr__(self):
        return "<absent>"


ABSENT = Absent()


def differences(actual, expected, path=""):
    """Where `actual` does not hold `expected`, as lines of text.

    An object holds one with fewer keys; a list must have the same length; a compiled regular
    expression matches a string, a function decides itself, ABSENT wants no value.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = []
        for key, value in expected.items():
            if value is ABSENT:
                if key in actual:
                    found.append(f"{path}.{key}: expected nothing, got {show(actual[key])}")
            elif key not in actual:
                found.append(f"{path}.{key}: expected {show(value)}, got nothing")
            else:
                found += differences(actual[key], value, f"{path}.{key}")
        return found
    if isinstance(expected, list) and isinstance(actual, list) and len(actual) == len(expected):
        return [line for i, (a, e) in enumerate(zip(actual, expected))
                for line in differences(a, e, f"{path}[{i}]")]
    if isinstance(expected, re.Pattern):
        holds = isinstance(actual, str) and expected.search(actual)
    elif callable(expected):
        holds = expected(actual)
    else:
        holds = actual == expected and isinstance(actual, bool) == isinstance(expected, bool)
    return [] if holds else [f"{path or '.'}: expected {show(expected)}, got {show(actual)}"]


def show(value):
    if isinstance(value, re.Pattern):
        return f"/{value.pattern}/"
    if callable(value):
        return value.__doc__ or value.__name__
    return json.dumps(value, default=repr)


def expect(actual, expected, what="value"):
    found = differences(actual, expected)
    if found:
        raise Failure(f"{what} is not as expected\n  " + "\n  ".join(found)
                      + f"\ngot {json.dumps(actual, indent=2, default=repr)}")


def text_difference(expected, actual):
    return "\n".join(difflib.unified_diff(
        normal_lines(expected), normal_lines(actual), "expected", "actual", lineterm="", n=99))
