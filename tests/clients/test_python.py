"""The Python client: typed reads and writes."""

import kubernetes
from kubernetes.client.rest import ApiException

from harness.check import Failure, expect
from harness.objects import budget, config_map, crd, pod
from harness.registry import test


def core(t):
    return kubernetes.client.CoreV1Api(t.python)


def fails(status, function, *arguments, **more):
    """The exception that the call must raise, with this HTTP status."""
    try:
        function(*arguments, **more)
    except ApiException as error:
        if error.status != status:
            raise Failure(f"expected HTTP {status}, got {error}") from None
        return error
    raise Failure(f"expected HTTP {status}, the call succeeded")


@test(python=True)
def creates_reads_and_lists(t):
    client = kubernetes.client
    made = core(t).create_namespaced_pod(t.namespace, client.V1Pod(
        metadata=client.V1ObjectMeta(name="p", labels={"app": "x"}),
        spec=client.V1PodSpec(scheduler_name="nobody", containers=[client.V1Container(
            name="c", image="i:1", resources=client.V1ResourceRequirements(
                requests={"cpu": "0.5"}))])))
    assert made.status.phase == "Pending" and made.status.qos_class == "Burstable", made
    assert made.spec.containers[0].resources.requests == {"cpu": "500m"}, made
    read = core(t).read_namespaced_pod("p", t.namespace)
    assert read.metadata.uid == made.metadata.uid
    listed = core(t).list_namespaced_pod(t.namespace, label_selector="app=x")
    assert [p.metadata.name for p in listed.items] == ["p"]
    assert listed.metadata.resource_version.isdigit(), listed.metadata
    everywhere = core(t).list_pod_for_all_namespaces(field_selector="metadata.name=p")
    assert t.namespace in [p.metadata.namespace for p in everywhere.items]


@test(python=True)
def errors_are_exceptions_with_a_status(t):
    error = fails(404, core(t).read_namespaced_pod, "none", t.namespace)
    assert error.reason == "Not Found" and 'pods \\"none\\" not found' in error.body, error
    body = {"metadata": {"name": "a"}}
    core(t).create_namespaced_config_map(t.namespace, body)
    error = fails(409, core(t).create_namespaced_config_map, t.namespace, body)
    assert '"reason":"AlreadyExists"' in error.body, error.body
    error = fails(422, core(t).create_namespaced_config_map, t.namespace,
                  {"metadata": {"name": "Not_OK"}})
    assert '"reason":"Invalid"' in error.body and '"field":"metadata.name"' in error.body, error


@test(python=True)
def patches_by_the_type_of_the_body(t):
    """A dictionary is a strategic merge patch, a list is a JSON patch."""
    t.create(pod("p", labels={"x": "1"}))
    patched = core(t).patch_namespaced_pod("p", t.namespace, {"metadata": {"labels": {"y": "2"}}})
    assert patched.metadata.labels == {"x": "1", "y": "2"}, patched.metadata
    patched = core(t).patch_namespaced_pod("p", t.namespace, [
        {"op": "remove", "path": "/metadata/labels/x"}])
    assert patched.metadata.labels == {"y": "2"}, patched.metadata
    patched = core(t).patch_namespaced_pod("p", t.namespace, {
        "spec": {"containers": [{"name": "app", "image": "i:2"}]}})
    assert [c.image for c in patched.spec.containers] == ["i:2"], patched.spec
    patched = core(t).patch_namespaced_pod_status("p", t.namespace, {"status": {
        "conditions": [{"type": "example.com/Seen", "status": "True"}]}})
    assert "example.com/Seen" in [c.type for c in patched.status.conditions], patched.status


@test(python=True)
def replaces_only_the_latest(t):
    """The compare-and-swap that leader election is made of."""
    api = kubernetes.client.CoordinationV1Api(t.python)
    lease = api.create_namespaced_lease(t.namespace, {
        "metadata": {"name": "leader"},
        "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 0,
                 "acquireTime": "2020-01-01T00:00:00.123456Z",
                 "renewTime": "2020-01-01T00:00:00.123456Z"}})
    assert lease.spec.renew_time.microsecond == 123456, lease.spec
    mine, theirs = (api.read_namespaced_lease("leader", t.namespace) for _ in range(2))
    theirs.spec.holder_identity = "b"
    theirs.spec.lease_transitions = 1
    api.replace_namespaced_lease("leader", t.namespace, theirs)
    mine.spec.holder_identity = "c"
    error = fails(409, api.replace_namespaced_lease, "leader", t.namespace, mine)
    assert "the object has been modified" in error.body, error.body
    now = api.read_namespaced_lease("leader", t.namespace)
    assert (now.spec.holder_identity, now.spec.lease_transitions) == ("b", 1), now.spec
    now.metadata.resource_version = None
    fails(422, api.replace_namespaced_lease, "leader", t.namespace, now)


@test(python=True)
def pages_through_a_list(t):
    t.create(*(config_map(f"c{i}", labels={"page": ""}) for i in range(5)))
    names, versions, token = [], set(), None
    while True:
        page = core(t).list_namespaced_config_map(
            t.namespace, label_selector="page", limit=2, _continue=token)
        names += [item.metadata.name for item in page.items]
        versions.add(page.metadata.resource_version)
        token = page.metadata._continue
        if not token:
            break
        assert len(page.items) == 2, page
    assert names == [f"c{i}" for i in range(5)] and len(versions) == 1, (names, versions)
    page = core(t).list_namespaced_config_map(t.namespace, limit=2)
    assert page.metadata.remaining_item_count >= 3, page.metadata


@test(python=True)
def a_page_shows_the_moment_of_the_first(t):
    """What changes between two pages is not seen in the second."""
    t.create(*(config_map(f"c{i}", labels={"page": ""}) for i in range(4)))
    first = core(t).list_namespaced_config_map(t.namespace, label_selector="page", limit=2)
    core(t).delete_namespaced_config_map("c3", t.namespace)
    core(t).create_namespaced_config_map(t.namespace, {
        "metadata": {"name": "c4", "labels": {"page": ""}}})
    rest = core(t).list_namespaced_config_map(
        t.namespace, label_selector="page", limit=10, _continue=first.metadata._continue)
    assert [c.metadata.name for c in rest.items] == ["c2", "c3"], rest.items


@test(python=True)
def binds_and_evicts(t):
    node = t.run_pods()
    t.create(pod("p", labels={"app": "x"}))
    core(t).create_namespaced_pod_binding(
        "p", t.namespace, {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": node}},
        _preload_content=False)  # the client mistakes the answer, a Status, for a Binding
    assert core(t).read_namespaced_pod("p", t.namespace).spec.node_name == node
    t.set_status("Pod", "p", {"phase": "Running", "conditions": [
        {"type": "Ready", "status": "True"}]})
    t.create(budget("b", {"app": "x"}, minAvailable=1))
    policy = kubernetes.client.PolicyV1Api(t.python)
    t.eventually(lambda: policy.read_namespaced_pod_disruption_budget_status(
        "b", t.namespace).status.current_healthy == 1)
    eviction = kubernetes.client.V1Eviction(metadata={"name": "p"})
    error = fails(429, core(t).create_namespaced_pod_eviction, "p", t.namespace, eviction)
    assert "Cannot evict pod as it would violate the pod's disruption budget." in error.body, error
    policy.patch_namespaced_pod_disruption_budget("b", t.namespace, {"spec": {"minAvailable": 0}})
    t.eventually(lambda: policy.read_namespaced_pod_disruption_budget(
        "b", t.namespace).status.disruptions_allowed == 1)
    core(t).create_namespaced_pod_eviction("p", t.namespace, eviction)
    assert core(t).read_namespaced_pod("p", t.namespace).metadata.deletion_timestamp
    core(t).delete_namespaced_pod("p", t.namespace, grace_period_seconds=0)


@test(python=True)
def deletes_with_options(t):
    batch = kubernetes.client.BatchV1Api(t.python)
    t.create(*(config_map(name, labels={"x": "1"}) for name in "abc"))
    core(t).delete_namespaced_config_map("a", t.namespace)
    fails(404, core(t).delete_namespaced_config_map, "a", t.namespace)
    core(t).delete_collection_namespaced_config_map(t.namespace, label_selector="x=1")
    assert not core(t).list_namespaced_config_map(t.namespace, label_selector="x=1").items
    batch.create_namespaced_job(t.namespace, {
        "metadata": {"name": "j"}, "spec": {"template": {"spec": {
            "restartPolicy": "Never", "schedulerName": "nobody",
            "containers": [{"name": "c", "image": "i"}]}}}})
    t.eventually(lambda: core(t).list_namespaced_pod(t.namespace).items, "the job's pod")
    batch.delete_namespaced_job("j", t.namespace, propagation_policy="Foreground")
    t.eventually(lambda: not core(t).list_namespaced_pod(t.namespace).items, "the pod to go")
    t.gone("Job", "j")


@test(python=True)
def scales_and_reads_typed_status(t):
    apps = kubernetes.client.AppsV1Api(t.python)
    t.run_pods()
    apps.create_namespaced_deployment(t.namespace, {
        "metadata": {"name": "d"}, "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": {
                "schedulerName": "clients-kubelet",
                "containers": [{"name": "c", "image": "i:1"}]}}}})
    scale = apps.patch_namespaced_deployment_scale("d", t.namespace, {"spec": {"replicas": 2}})
    assert scale.spec.replicas == 2 and scale.status.selector == "app=d", scale
    t.eventually(lambda: apps.read_namespaced_deployment_status(
        "d", t.namespace).status.available_replicas == 2, "two available replicas")
    conditions = {c.type: c.status for c in apps.read_namespaced_deployment(
        "d", t.namespace).status.conditions}
    expect(conditions, {"Available": "True", "Progressing": "True"})


@test(python=True)
def cordons_a_node(t):
    name = t.name("n")
    t.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    node = core(t).patch_node(name, {"spec": {"unschedulable": True}})
    assert node.spec.unschedulable is True
    node = core(t).patch_node_status(name, {"status": {
        "capacity": {"kubernetes.io/batch-cpu": "1000", "cpu": "4"},
        "allocatable": {"kubernetes.io/batch-cpu": "1000", "cpu": "4"}}})
    assert node.status.allocatable["kubernetes.io/batch-cpu"] == "1k", node.status


@test(python=True)
def creates_a_definition(t):
    api = kubernetes.client.ApiextensionsV1Api(t.python)
    group = f"{t.namespace}.example.com"
    made = crd(group, "things", "Thing", {"spec": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": True}})
    t.cleanup(t.api.delete, made)
    api.create_custom_resource_definition(made)
    t.eventually(lambda: any(
        c.type == "Established" and c.status == "True" for c in
        api.read_custom_resource_definition(f"things.{group}").status.conditions or []))


@test(python=True)
def asks_for_versions_and_rights(t):
    client = kubernetes.client
    assert client.VersionApi(t.python).get_code().major == "1"
    assert "v1" in client.CoreApi(t.python).get_api_versions().versions
    groups = [g.name for g in client.ApisApi(t.python).get_api_versions().groups]
    assert {"apps", "batch", "policy", "coordination.k8s.io"} <= set(groups), groups
    resources = [r.name for r in client.CoreV1Api(t.python).get_api_resources().resources]
    assert {"pods", "pods/status", "nodes"} <= set(resources), resources
    review = client.AuthorizationV1Api(t.python).create_self_subject_access_review({
        "spec": {"resourceAttributes": {"verb": "create", "resource": "pods",
                                        "namespace": t.namespace}}})
    assert review.status.allowed is True, review


@test(python=True)
def creates_from_yaml(t):
    path = t.file("two.yaml", f"""
apiVersion: v1
kind: ConfigMap
metadata: {{name: a, namespace: {t.namespace}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: d, namespace: {t.namespace}}}
spec:
  replicas: 0
  selector: {{matchLabels: {{app: d}}}}
  template:
    metadata: {{labels: {{app: d}}}}
    spec: {{containers: [{{name: c, image: "i:1"}}]}}
""")
    kubernetes.utils.create_from_yaml(t.python, str(path))
    assert t.exists("ConfigMap", "a") and t.exists("Deployment", "d")


@test(python=True)
def writes_events(t):
    made = t.create(pod("p"))
    core(t).create_namespaced_event(t.namespace, {
        "metadata": {"name": "e"}, "reason": "Tested", "message": "m", "type": "Normal",
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": t.namespace,
                           "uid": made["metadata"]["uid"]},
        "firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": "2020-01-01T00:00:00Z",
        "count": 1, "source": {"component": "me"}})
    core(t).patch_namespaced_event("e", t.namespace, {"count": 2})
    events = core(t).list_namespaced_event(
        t.namespace, field_selector="involvedObject.name=p,involvedObject.kind=Pod").items
    assert [(e.reason, e.count) for e in events] == [("Tested", 2)], events
