"""Waiting for conditions."""

import threading
import time

DEADLINE_S = 60
TICK_S = 0.05


def wait_until(condition, what, deadline=DEADLINE_S):
    """Returns what the condition gives as soon as that is true, and the seconds it took."""
    begin = time.monotonic()
    tick = threading.Event()
    while not (result := condition()):
        if time.monotonic() > begin + deadline:
            raise AssertionError(f"not within {deadline} s: {what() if callable(what) else what}")
        tick.wait(TICK_S)
    return result, time.monotonic() - begin
