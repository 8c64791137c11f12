"""What tests of programs that serve HTTP on a port of their own need."""

import http.client
import socket
import ssl
import threading
import time

TICK_S = 0.05


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def ask(port, path, method="GET", body=None):
    """(status, text), or (0, "") if nobody answers."""
    return _ask(http.client.HTTPConnection("127.0.0.1", port, timeout=120), path, method, body, {})


def ask_securely(port, path, token, method="GET", body=None):
    """The same with HTTPS and a bearer token. The program's certificate is of its own making."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=120,
                                             context=ssl._create_unverified_context())
    return _ask(connection, path, method, body, {"Authorization": f"Bearer {token}"})


def _ask(connection, path, method, body, headers):
    try:
        connection.request(method, path, body, headers)
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
