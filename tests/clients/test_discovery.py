"""What the cluster tells about itself: kubectl api-resources, api-versions, explain, version."""

import json

from harness.check import expect
from harness.objects import config_map, crd, pod
from harness.registry import test
from harness.suite import install_crd
from harness.widgets import GROUP

# name, short names, API version, namespaced, kind
RESOURCES = """
bindings v1 true Binding
configmaps cm v1 true ConfigMap
endpoints ep v1 true Endpoints
events ev v1 true Event
limitranges limits v1 true LimitRange
namespaces ns v1 false Namespace
nodes no v1 false Node
persistentvolumeclaims pvc v1 true PersistentVolumeClaim
persistentvolumes pv v1 false PersistentVolume
pods po v1 true Pod
podtemplates v1 true PodTemplate
replicationcontrollers rc v1 true ReplicationController
resourcequotas quota v1 true ResourceQuota
secrets v1 true Secret
serviceaccounts sa v1 true ServiceAccount
services svc v1 true Service
mutatingwebhookconfigurations admissionregistration.k8s.io/v1 false MutatingWebhookConfiguration
validatingwebhookconfigurations admissionregistration.k8s.io/v1 false ValidatingWebhookConfiguration
customresourcedefinitions crd,crds apiextensions.k8s.io/v1 false CustomResourceDefinition
controllerrevisions apps/v1 true ControllerRevision
daemonsets ds apps/v1 true DaemonSet
deployments deploy apps/v1 true Deployment
replicasets rs apps/v1 true ReplicaSet
statefulsets sts apps/v1 true StatefulSet
selfsubjectreviews authentication.k8s.io/v1 false SelfSubjectReview
tokenreviews authentication.k8s.io/v1 false TokenReview
localsubjectaccessreviews authorization.k8s.io/v1 true LocalSubjectAccessReview
selfsubjectaccessreviews authorization.k8s.io/v1 false SelfSubjectAccessReview
selfsubjectrulesreviews authorization.k8s.io/v1 false SelfSubjectRulesReview
subjectaccessreviews authorization.k8s.io/v1 false SubjectAccessReview
cronjobs cj batch/v1 true CronJob
jobs batch/v1 true Job
leases coordination.k8s.io/v1 true Lease
events ev events.k8s.io/v1 true Event
poddisruptionbudgets pdb policy/v1 true PodDisruptionBudget
clusterrolebindings rbac.authorization.k8s.io/v1 false ClusterRoleBinding
clusterroles rbac.authorization.k8s.io/v1 false ClusterRole
rolebindings rbac.authorization.k8s.io/v1 true RoleBinding
roles rbac.authorization.k8s.io/v1 true Role
deviceclasses resource.k8s.io/v1 false DeviceClass
resourceclaims resource.k8s.io/v1 true ResourceClaim
resourceclaimtemplates resource.k8s.io/v1 true ResourceClaimTemplate
resourceslices resource.k8s.io/v1 false ResourceSlice
priorityclasses pc scheduling.k8s.io/v1 false PriorityClass
csidrivers storage.k8s.io/v1 false CSIDriver
csinodes storage.k8s.io/v1 false CSINode
csistoragecapacities storage.k8s.io/v1 true CSIStorageCapacity
storageclasses sc storage.k8s.io/v1 false StorageClass
volumeattachments storage.k8s.io/v1 false VolumeAttachment
"""


@test(alone=True)
def api_resources(t):
    printed = t.kubectl("api-resources", "--no-headers")
    found = {" ".join(line.split()) for line in printed.stdout.splitlines()}
    missing = [row for row in (" ".join(line.split()) for line in RESOURCES.strip().splitlines())
               if row not in found]
    if missing:
        printed.fail("these rows:\n" + "\n".join(missing))


@test(alone=True)
def api_resources_by_group_and_verb(t):
    t.kubectl("api-resources", "--api-group=policy", "-o", "name").prints(
        "poddisruptionbudgets.policy")
    listed = t.kubectl("api-resources", "--verbs=list,watch", "--namespaced=true", "-o", "name")
    names = set(listed.stdout.split())
    if not names >= {"pods", "deployments.apps"} or names & {"bindings", "nodes"}:
        listed.fail("namespaced resources that can be listed and watched")


@test(alone=True)
def api_versions(t):
    t.kubectl("api-versions").contains(
        "admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "apps/v1",
        "authentication.k8s.io/v1", "authorization.k8s.io/v1", "batch/v1",
        "coordination.k8s.io/v1", "events.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1",
        "resource.k8s.io/v1", "scheduling.k8s.io/v1", "storage.k8s.io/v1", "v1")


@test
def explain_a_built_in_kind(t):
    t.kubectl("explain", "pod").contains(
        "KIND: <<\\s+>>Pod", "VERSION: <<\\s+>>v1", "spec  <<.*>>", "metadata  <<.*>>", "status")
    t.kubectl("explain", "pods.spec.containers.resources").contains(
        "limits  <<.*>>", "requests  <<.*>>")
    t.kubectl("explain", "deployment.spec.replicas").contains("<integer>")
    t.kubectl("explain", "deployment.spec.strategy.rollingUpdate").contains("maxSurge")
    t.kubectl_fails("explain", "pod.spec.nope").complains('error: field "nope" does not exist')


@test
def explain_recursively(t):
    t.kubectl("explain", "pdb", "--recursive").contains(
        "minAvailable", "maxUnavailable", "matchLabels", "disruptionsAllowed")
    t.kubectl("explain", "configmap", "--recursive").contains("binaryData", "immutable")


@test
def explain_a_custom_kind(t):
    t.widgets()
    # Schemas of new kinds are published a moment later.
    t.eventually(lambda: t.try_kubectl("explain", "widget.spec").succeeds().contains(
        "KIND: <<\\s+>>Widget", "What the widget should be.", "replicas", "mode",
        "How it works."))
    t.kubectl("explain", "widgets.spec.ports.port").contains("<integer>")
    t.kubectl("explain", "widget", "--recursive").contains("replicas", "protocol", "phase")


@test
def version(t):
    found = t.kubectl("version", "-o", "json").json()
    expect(found["serverVersion"], {key: lambda value: isinstance(value, str) for key in (
        "major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion",
        "compiler", "platform")})
    expect(found["serverVersion"], {"major": "1", "minor": "35"})


@test
def cluster_info(t):
    t.kubectl("cluster-info").contains(
        "<<.*>>Kubernetes control plane<<.*>> is running at <<.*>>https://127.0.0.1:<<\\d+.*>>")


@test
def health(t):
    for path in ("/healthz", "/livez", "/readyz"):
        t.kubectl("get", "--raw", path).prints("ok")
    t.kubectl("get", "--raw", "/readyz?verbose").contains("[+]<<.*>> ok")
    t.kubectl("get", "--raw", "/version").holds({"major": "1"})


@test
def the_two_forms_of_discovery(t):
    """Newer clients read all groups in one document, if the answer says that it is one."""
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    for path, group, resource in (("/api", None, "pods"), ("/apis", "apps", "deployments")):
        answer = t.api.request("GET", path, headers={
            "Accept": aggregated + ",application/json"}).has_status(200)
        assert answer.headers["Content-Type"] == aggregated, answer.headers["Content-Type"]
        found = answer.json()
        expect(found, {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2"})
        item = next(i for i in found["items"] if i["metadata"].get("name") == group)
        entry = next(r for r in item["versions"][0]["resources"] if r["resource"] == resource)
        expect(entry, {"scope": "Namespaced", "categories": ["all"],
                       "singularResource": resource[:-1]})
        assert "status" in [s["subresource"] for s in entry["subresources"]], entry
    expect(t.api.request("GET", "/apis").json(), {"kind": "APIGroupList"})
    expect(t.api.request("GET", "/api").json(), {"kind": "APIVersions", "versions": ["v1"]})
    expect(t.api.request("GET", "/apis/apps").json(), {
        "kind": "APIGroup", "name": "apps", "preferredVersion": {"version": "v1"}})


@test
def subresources_are_listed(t):
    resources = {r["name"]: r for r in t.api.request("GET", "/api/v1").json()["resources"]}
    expect(resources["pods/eviction"], {"group": "policy", "version": "v1", "kind": "Eviction"})
    expect(resources["pods/binding"], {"kind": "Binding", "verbs": ["create"]})
    expect(resources["pods/status"], {"verbs": ["get", "patch", "update"], "namespaced": True})
    expect(resources["pods"], {"shortNames": ["po"], "categories": ["all"], "singularName": "pod",
                               "verbs": ["create", "delete", "deletecollection", "get", "list",
                                         "patch", "update", "watch"]})
    apps = {r["name"]: r for r in t.api.request("GET", "/apis/apps/v1").json()["resources"]}
    expect(apps["deployments/scale"], {"group": "autoscaling", "version": "v1", "kind": "Scale"})


@test
def a_new_kind_appears_and_goes(t):
    group = f"{t.namespace}.example.com"
    made = crd(group, "gadgets", "Gadget", {"spec": {"type": "object"}}, scope="Cluster")
    t.cleanup(t.api.delete, made)
    install_crd(t.api, made)
    t.kubectl("get", f"gadgets.{group}").complains("No resources found")
    t.kubectl("delete", "crd", f"gadgets.{group}")
    t.eventually(lambda: t.api.request("GET", f"/apis/{group}/v1/gadgets").status == 404)
    t.eventually(lambda: t.try_kubectl("get", f"gadgets.{group}").exits(1))


@test
def unknown_paths(t):
    answer = t.api.request("GET", "/apis/none.example.com/v1/things").has_status(404)
    assert answer.body == b"404 page not found\n", answer.body
    t.api.request("GET", "/api/v1/nonsense").rejects(
        404, "the server could not find the requested resource", "NotFound")
    t.api.request("POST", "/api/v1/pods", pod("a")).rejects(405, reason="MethodNotAllowed")
    t.create(config_map("a"))
    t.api.request("POST", f"/api/v1/namespaces/{t.namespace}/configmaps/a", {}).rejects(
        405, "the server does not allow this method on the requested resource", "MethodNotAllowed")


@test
def openapi_documents(t):
    """Newer kubectls decide by these whether the server checks fields."""
    index = t.api.request("GET", "/openapi/v3").has_status(200).json()["paths"]
    core = t.api.request("GET", index["api/v1"]["serverRelativeURL"]).has_status(200).json()
    patch = core["paths"]["/api/v1/namespaces/{name}"]["patch"]
    expect(patch["x-kubernetes-group-version-kind"], {"group": "", "version": "v1",
                                                      "kind": "Namespace"})
    text = json.dumps(patch["parameters"])
    assert "fieldValidation" in text, text
    t.widgets()
    t.eventually(lambda: f"apis/{GROUP}/v1" in t.api.request(
        "GET", "/openapi/v3").json()["paths"], "the schema of the widgets")
