"""What all tests of a run share: the cluster, the kubelet, the webhook server, the widgets."""

import pathlib
import threading
import time

import yaml

from . import widgets
from .api import Api
from .check import Failure
from .kubelet import Kubelet
from .webhook import WebhookServer

ESTABLISH_DEADLINE_S = 300
KOORDINATOR_CRDS = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "crds"


class Suite:
    def __init__(self, cluster, kubeconfig, directory, run_id):
        """`cluster` says what answers behind the kubeconfig: "kubernetes" or "koord"."""
        self.cluster, self.kubeconfig = cluster, kubeconfig
        self.directory = pathlib.Path(directory)
        self.api = Api(kubeconfig, directory)
        self.kubelet = Kubelet(self.api, f"clients-{run_id}")
        self._lock = threading.Lock()
        self._webhooks = self._python_client = None
        self._widgets_installed, self._koordinator_crds = False, []

    def close(self):
        self.kubelet.stop()
        if self._webhooks:
            self._webhooks.stop()
        if self._widgets_installed:
            self.api.delete(widgets.definition())
        for definition in self._koordinator_crds:
            self.api.delete(definition)

    def webhooks(self):
        with self._lock:
            if not self._webhooks:
                directory = self.directory / "webhooks"
                directory.mkdir()
                self._webhooks = WebhookServer(directory)
            return self._webhooks

    @property
    def python_client(self):
        with self._lock:
            if not self._python_client:
                import kubernetes  # not needed, and perhaps not there, when only kubectl is tested
                self._python_client = kubernetes.config.new_client_from_config(
                    config_file=str(self.kubeconfig))
            return self._python_client

    def install_widgets(self):
        with self._lock:
            if not self._widgets_installed:
                install_crd(self.api, widgets.definition())
                self._widgets_installed = True

    def install_koordinator_crds(self):
        """The local cluster has them already."""
        with self._lock:
            if self.cluster == "koord" or self._koordinator_crds:
                return
            for path in sorted(KOORDINATOR_CRDS.glob("*.yaml")):
                self._koordinator_crds.append(yaml.safe_load(path.read_text()))
                install_crd(self.api, self._koordinator_crds[-1])


def install_crd(api, definition):
    """Creates a CRD and returns once its objects are served and discovery tells of them."""
    api.create(definition)
    spec = definition["spec"]
    group_version = f"/apis/{spec['group']}/{spec['versions'][0]['name']}"
    plural = spec["names"]["plural"]

    def served():
        discovery = api.request("GET", group_version)
        if discovery.status != 200 or api.request("GET", f"{group_version}/{plural}").status != 200:
            return False
        if plural not in [r["name"] for r in discovery.json()["resources"]]:
            return False
        groups = api.request("GET", "/apis").json()["groups"]
        return spec["group"] in [g["name"] for g in groups] and aggregated(api, spec["group"])

    end = time.monotonic() + ESTABLISH_DEADLINE_S
    while not served():
        if time.monotonic() > end:
            raise Failure(f"{plural}.{spec['group']} is not served after {ESTABLISH_DEADLINE_S} s")
        time.sleep(0.05)


def aggregated(api, group):
    """Whether the one-document discovery of newer clients has the group with a resource."""
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    found = api.request("GET", "/apis", headers={"Accept": accept}).json()
    if found["kind"] != "APIGroupDiscoveryList":
        return True  # a server without it: its clients use the other documents
    return any(item["metadata"]["name"] == group and item["versions"][0].get("resources")
               for item in found["items"])


def leftovers(api, prefix):
    """The namespaces whose name begins so."""
    names = [n["metadata"]["name"] for n in api.get("Namespace")["items"]]
    return [name for name in names if name.startswith(prefix)]
