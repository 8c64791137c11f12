"""Waiting for conditions."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients"))

from harness import program  # noqa: E402

DEADLINE_S = 300


def wait_until(condition, what, deadline=DEADLINE_S):
    """What the condition gives as soon as that is true, and the seconds it took."""
    return program.wait_until(condition, what, deadline)
