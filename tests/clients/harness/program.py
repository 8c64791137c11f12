"""What tests of programs that serve HTTP on a port of their own need."""

import http.client
import socket
import threading
import time

TICK_S = 0.05


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def ask(port, path, method="GET", body=None):
    """(status, text), or (0, "") if nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()


def wait_until(condition, what, deadline):
    """What the condition gives as soon as that is true, and the seconds it took.

    `what` says what is waited for: a text, or a function that makes one when it did not happen.
    """
    begin = time.monotonic()
    tick = threading.Event()
    while not (result := condition()):
        if time.monotonic() > begin + deadline:
            raise AssertionError(f"not within {deadline} s: {what() if callable(what) else what}")
        tick.wait(TICK_S)
    return result, time.monotonic() - begin
