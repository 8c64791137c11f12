"""Plain HTTPS requests to a cluster, for what a test prepares or checks beside its client."""

import base64
import http.client
import json
import pathlib
import re
import ssl
import threading
import urllib.parse

import yaml

from .check import Failure

REQUEST_TIMEOUT_S = 300
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

# kind: (group-version, plural, is namespaced)
KINDS = {
    "Pod": ("v1", "pods", True),
    "Node": ("v1", "nodes", False),
    "Namespace": ("v1", "namespaces", False),
    "ConfigMap": ("v1", "configmaps", True),
    "Secret": ("v1", "secrets", True),
    "Service": ("v1", "services", True),
    "ServiceAccount": ("v1", "serviceaccounts", True),
    "Event": ("v1", "events", True),
    "ResourceQuota": ("v1", "resourcequotas", True),
    "LimitRange": ("v1", "limitranges", True),
    "PersistentVolume": ("v1", "persistentvolumes", False),
    "PersistentVolumeClaim": ("v1", "persistentvolumeclaims", True),
    "Deployment": ("apps/v1", "deployments", True),
    "ReplicaSet": ("apps/v1", "replicasets", True),
    "StatefulSet": ("apps/v1", "statefulsets", True),
    "DaemonSet": ("apps/v1", "daemonsets", True),
    "Job": ("batch/v1", "jobs", True),
    "CronJob": ("batch/v1", "cronjobs", True),
    "PodDisruptionBudget": ("policy/v1", "poddisruptionbudgets", True),
    "PriorityClass": ("scheduling.k8s.io/v1", "priorityclasses", False),
    "Lease": ("coordination.k8s.io/v1", "leases", True),
    "StorageClass": ("storage.k8s.io/v1", "storageclasses", False),
    "CustomResourceDefinition": ("apiextensions.k8s.io/v1", "customresourcedefinitions", False),
    "MutatingWebhookConfiguration":
        ("admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations", False),
    "ValidatingWebhookConfiguration":
        ("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", False),
    "ClusterRole": ("rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
}


def register_kind(kind, group_version, plural, namespaced):
    KINDS[kind] = (group_version, plural, namespaced)


def is_namespaced(kind):
    return KINDS[kind][2]


def kind_path(kind, namespace=None, name=None, subresource=None):
    group_version, plural, namespaced = KINDS[kind]
    parts = ["api" if group_version == "v1" else "apis", group_version]
    if namespaced and namespace:
        parts += ["namespaces", namespace]
    parts += [part for part in (plural, name, subresource) if part]
    return "/" + "/".join(parts)


def object_path(thing, subresource=None):
    meta = thing["metadata"]
    return kind_path(thing["kind"], meta.get("namespace"), meta["name"], subresource)


class Response:
    def __init__(self, request, status, headers, body):
        self.request, self.status, self.headers, self.body = request, status, headers, body

    def json(self):
        return json.loads(self.body)

    def warnings(self):
        """The texts of the Warning headers."""
        quoted = [header.split(" ", 2)[2] for header in self.headers.get_all("Warning", [])]
        return [re.sub(r"\\(.)", r"\1", text[1:-1]) for text in quoted]

    def has_status(self, code):
        if self.status != code:
            raise Failure(f"{self.request}\nexpected: HTTP {code}\n"
                          f"got: HTTP {self.status} {self.body.decode(errors='replace')}")
        return self

    def rejects(self, code, message=None, reason=None):
        """The answer is a Status with this code and, where given, exact message and reason."""
        status = self.has_status(code).json()
        for key, expected in (("message", message), ("reason", reason)):
            if expected is not None and status.get(key) != expected:
                raise Failure(f"{self.request}\nexpected {key}: {expected}\n"
                              f"got: {json.dumps(status, indent=2)}")
        return status


class Api:
    """Speaks to the cluster of a kubeconfig as its current user. May be used by many threads."""

    def __init__(self, kubeconfig, directory):
        self.server, self._headers, self._tls = read_kubeconfig(kubeconfig, directory)
        self._threads = threading.local()

    def request(self, method, path, body=None, content_type="application/json", query=None,
                headers=None):
        """One request, on the connection that this thread keeps. Never raises for a status."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": content_type, **(headers or {})}
        for attempt in (1, 2):
            fresh = getattr(self._threads, "connection", None) is None
            if fresh:
                self._threads.connection = self._connect(REQUEST_TIMEOUT_S)
            try:
                self._threads.connection.request(method, path, data, headers)
                answer = self._threads.connection.getresponse()
                return Response(f"{method} {path}", answer.status, answer.headers, answer.read())
            except (OSError, http.client.HTTPException):
                self._threads.connection.close()
                self._threads.connection = None
                if fresh or attempt == 2:  # only a kept connection may have been closed meanwhile
                    raise
        raise AssertionError("unreachable")

    def get(self, kind, name=None, namespace=None, query=None, subresource=None):
        path = kind_path(kind, namespace, name, subresource)
        return self.request("GET", path, query=query).has_status(200).json()

    def exists(self, kind, name, namespace=None):
        return self.request("GET", kind_path(kind, namespace, name)).status == 200

    def try_create(self, thing, query=None):
        path = kind_path(thing["kind"], thing["metadata"].get("namespace"))
        return self.request("POST", path, thing, query=query)

    def create(self, thing):
        return self.try_create(thing).has_status(201).json()

    def patch(self, thing, patch, content_type=MERGE_PATCH, subresource=None, query=None):
        path = object_path(thing, subresource)
        answer = self.request("PATCH", path, patch, content_type, query)
        return answer.has_status(200).json()

    def set_status(self, thing, status):
        return self.patch(thing, {"status": status}, subresource="status")

    def delete(self, thing, options=None):
        """Deletes; absent is fine."""
        answer = self.request("DELETE", object_path(thing), options)
        if answer.status not in (200, 202, 404):
            answer.has_status(200)
        return answer

    def watch(self, path, query, timeout):
        """Yields the events of a watch until it ends; `timeout` in seconds is the server's."""
        query = {"watch": "1", "timeoutSeconds": timeout, **query}
        connection = self._connect(timeout + REQUEST_TIMEOUT_S)
        try:
            connection.request("GET", f"{path}?{urllib.parse.urlencode(query)}",
                               headers=self._headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise Failure(f"watch {path} {query}: HTTP {answer.status} {answer.read()}")
            while line := answer.readline():
                yield json.loads(line)
        finally:
            connection.close()

    def _connect(self, timeout):
        return http.client.HTTPSConnection(
            self.server.hostname, self.server.port, timeout=timeout, context=self._tls)


def read_kubeconfig(kubeconfig, directory):
    """(server address, headers, TLS context) of the current context."""
    config = yaml.safe_load(pathlib.Path(kubeconfig).read_text())
    context = named(config, "context", config["current-context"])
    cluster, user = named(config, "cluster", context["cluster"]), named(
        config, "user", context["user"])
    tls = ssl.create_default_context(cafile=material(
        cluster, "certificate-authority", kubeconfig, directory))
    certificate = material(user, "client-certificate", kubeconfig, directory)
    if certificate:
        tls.load_cert_chain(certificate, material(user, "client-key", kubeconfig, directory))
    headers = {"Accept": "application/json", "User-Agent": "clients-test/1.0"}
    if "token" in user:
        headers["Authorization"] = "Bearer " + user["token"]
    return urllib.parse.urlsplit(cluster["server"]), headers, tls


def named(config, kind, name):
    return next(entry[kind] for entry in config[kind + "s"] if entry["name"] == name)


def material(section, key, kubeconfig, directory):
    """The path of a certificate or key, which the kubeconfig may hold inline or by path."""
    if key + "-data" in section:
        path = pathlib.Path(directory) / key
        path.touch(mode=0o600)
        path.write_bytes(base64.b64decode(section[key + "-data"]))
        return str(path)
    return str(pathlib.Path(kubeconfig).parent / section[key]) if key in section else None
