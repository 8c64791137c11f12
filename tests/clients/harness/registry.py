"""The list of tests, filled by the `test` decorator as the topic modules are loaded."""

import dataclasses

TESTS = []


@dataclasses.dataclass(frozen=True)
class Test:
    """A function and what must be true for it to mean anything.

    A kubectl test runs once for each kubectl given, if its minor version is at least `since` and
    at most `until`; a Python test runs once.
    """
    topic: str
    function: object
    python: bool
    since: int
    until: int
    alone: bool  # no other test may run meanwhile: it looks at, or changes, the whole cluster
    running_nodes: bool  # the cluster itself must run pods
    only_on: dict  # {cluster: why it means nothing elsewhere}

    @property
    def name(self):
        return f"{self.topic}.{self.function.__name__}"


def test(function=None, *, python=False, since=0, until=999, alone=False, running_nodes=False,
         only_on=None):
    def register(function):
        topic = function.__module__.removeprefix("test_")
        TESTS.append(Test(topic, function, python, since, until, alone, running_nodes,
                          only_on or {}))
        return function

    return register(function) if function else register
