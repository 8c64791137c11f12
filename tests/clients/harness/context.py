"""What a test gets: a namespace, clients, and a way to wait and to clean up."""

import json
import os
import time

from .api import MERGE_PATCH, is_namespaced, object_path
from .check import Failure

POLL_S = 0.05
HOLD = "example.com/hold"  # a finalizer
OWN_NODE = {"key": "example.com/test", "effect": "NoSchedule"}


class Context:
    """`suite` is what all tests of a run share; `kubectl` is None in a Python test."""

    def __init__(self, suite, namespace, kubectl, log, deadline):
        self._suite, self._kubectl, self._log, self._deadline = suite, kubectl, log, deadline
        self.namespace, self.api = namespace, suite.api
        self.cluster = suite.cluster
        self.minor = kubectl.minor if kubectl else None
        self._cleanups = []

    # Set-up

    def open(self):
        self.api.create({"apiVersion": "v1", "kind": "Namespace",
                         "metadata": {"name": self.namespace}})
        # Pods are refused until the account exists that they run as.
        self.eventually(
            lambda: self.api.exists("ServiceAccount", "default", self.namespace),
            "the namespace to have a default service account")
        if self.cluster == "kubernetes":  # whose controllers put this there, at a time of their own
            self.eventually(
                lambda: self.api.exists("ConfigMap", "kube-root-ca.crt", self.namespace),
                "the namespace to have the certificate of the cluster")

    def close(self):
        """Undoes what the test did, last first, and begins to remove the namespace."""
        problems = []
        for cleanup in [*reversed(self._cleanups), self._delete_namespace]:
            try:
                cleanup()
            except Exception as error:  # the others must still be done
                problems.append(str(error))
        if problems:
            raise Failure("clean-up failed: " + "; ".join(problems))

    def _delete_namespace(self):
        self.api.delete({"kind": "Namespace", "metadata": {"name": self.namespace}})

    def cleanup(self, function, *arguments):
        self._cleanups.append(lambda: function(*arguments))

    def name(self, suffix):
        """A name for a cluster-scoped object, no other test's."""
        return f"{self.namespace}-{suffix}"

    def file(self, name, content):
        """The path of a file with this text, or object as JSON."""
        path = self._suite.directory / self.namespace
        path.mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (path / name).write_text(text)
        return path / name

    def script(self, name, text):
        """The path of an executable shell script."""
        path = self.file(name, f"#!/bin/sh\nset -e\n{text}\n")
        os.chmod(path, 0o700)
        return path

    # Clients

    def kubectl(self, *arguments, input=None, environment=None):
        """A call in the test's namespace that must succeed."""
        return self.try_kubectl(*arguments, input=input, environment=environment).succeeds()

    def kubectl_fails(self, *arguments, input=None, code=1, environment=None):
        return self.try_kubectl(*arguments, input=input, environment=environment).exits(code)

    def try_kubectl(self, *arguments, input=None, environment=None):
        answer = self._kubectl.run(["-n", self.namespace, *arguments], input, environment)
        self._log(answer)
        return answer

    def start_kubectl(self, *arguments):
        started = self._kubectl.start(["-n", self.namespace, *arguments], self._deadline)
        self.cleanup(started.stop)
        return started

    def finds(self, resource, flag, cases):
        """`kubectl get` with each selector finds these names, in this order."""
        for selector, expected in cases.items():
            answer = self.kubectl("get", resource, flag, selector, "-o", "name")
            names = [line.partition("/")[2] for line in answer.stdout.splitlines()]
            if names != expected.split():
                answer.fail(f"{flag} '{selector}' to find: {expected}")

    @property
    def python(self):
        """An ApiClient of the Python client, to be given to its API classes."""
        return self._suite.python_client

    @property
    def webhooks(self):
        return self._suite.webhooks()

    # Objects

    def create(self, *things):
        """Creates each through the API, in the test's namespace; returns the last as stored."""
        for thing in things:
            created = self.api.create(self._placed(thing))
            if "namespace" not in created["metadata"]:
                self.cleanup(self.api.delete, created)
        return created

    def _placed(self, thing):
        metadata = {"namespace": self.namespace, **thing["metadata"]}
        if not is_namespaced(thing["kind"]):
            del metadata["namespace"]
        return {**thing, "metadata": metadata}

    def get(self, kind, name, **more):
        return self.api.get(kind, name, self.namespace, **more)

    def exists(self, kind, name):
        return self.api.exists(kind, name, self.namespace)

    def list(self, kind, **query):
        return self.api.get(kind, namespace=self.namespace, query=query)["items"]

    def patch(self, kind, name, patch, **more):
        """A merge patch through the API."""
        return self.api.patch(self._placed({"kind": kind, "metadata": {"name": name}}), patch,
                              **more)

    def set_status(self, kind, name, status):
        return self.patch(kind, name, {"status": status}, subresource="status")

    def hold(self, kind, name):
        """Keeps the object from going away when it is deleted, until `release` or the end."""
        self.cleanup(self.release, kind, name)
        self.patch(kind, name, {"metadata": {"finalizers": [HOLD]}})

    def release(self, kind, name):
        """Lets the object go, if it is still there."""
        thing = self._placed({"kind": kind, "metadata": {"name": name}})
        self.api.request("PATCH", object_path(thing), {"metadata": {"finalizers": None}},
                         MERGE_PATCH)

    def run_pods(self):
        """Makes pods that ask for it run (see kubelet.py); returns the name of their node."""
        kubelet = self._suite.kubelet
        kubelet.start()
        return kubelet.node

    def ready_node(self, suffix="n", taints=()):
        """A node of the test's own that stays ready; pods that select it run there.

        The cluster's scheduler must not bring pods of other tests, which nobody would end there.
        """
        self.run_pods()
        name = self.name(suffix)
        self._suite.kubelet.add_node(name, taints=[OWN_NODE, *taints])
        self.cleanup(self._suite.kubelet.remove_node, name)
        return name

    def running(self, *names):
        """Waits until these pods run."""
        for name in names:
            self.eventually(lambda: self.get("Pod", name)["status"].get("phase") == "Running",
                            f"pod {name} to run")

    def widgets(self):
        """Installs the custom resource that the tests share; see widgets.py."""
        self._suite.install_widgets()

    def koordinator_kinds(self):
        """Makes sure that Koordinator's CRDs are installed."""
        self._suite.install_koordinator_crds()

    # Waiting

    def eventually(self, condition, what=None):
        """Waits until `condition` returns something true, and returns that.

        A Failure inside it counts as not yet; the last one is reported when time is up.
        """
        end = time.monotonic() + self._deadline
        while True:
            try:
                value, problem = condition(), None
                if value:
                    return value
            except Failure as failure:
                problem = failure
            if time.monotonic() > end:
                raise Failure(
                    f"waited {self._deadline} s for {what or 'what follows'}\n{problem or ''}")
            time.sleep(POLL_S)

    def gone(self, kind, name):
        self.eventually(lambda: not self.exists(kind, name), f"{kind} {name} to be gone")
