"""Binding, eviction, scale and status, as schedulers and controllers use them."""

from harness.api import MERGE_PATCH, STRATEGIC_PATCH, kind_path
from harness.check import ABSENT, expect
from harness.kubelet import READY
from harness.objects import budget, container, deployment, pod, replica_set
from harness.registry import test
from harness.widgets import widget


def binding(name, node, **metadata):
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **metadata},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}}


def bind(t, name, node, **metadata):
    path = kind_path("Pod", t.namespace, name, "binding")
    return t.api.request("POST", path, binding(name, node, **metadata))


def evict(t, name, api="policy/v1", **more):
    return t.api.request("POST", kind_path("Pod", t.namespace, name, "eviction"), {
        "apiVersion": api, "kind": "Eviction", "metadata": {"name": name}, **more})


def running_pods(t, *names, **more):
    t.run_pods()
    for name in names:
        t.create(pod(name, run=True, labels={"app": "x"}, **more))
    t.running(*names)


def settled_budget(t, healthy, **spec):
    t.create(budget("b", {"app": "x"}, **spec))

    def settled():
        made = t.get("PodDisruptionBudget", "b")
        return (made.get("status", {}).get("observedGeneration") == made["metadata"]["generation"]
                and made["status"]["currentHealthy"] == healthy)

    t.eventually(settled, f"the budget to count {healthy} pods")
    return t.get("PodDisruptionBudget", "b")["status"]


@test
def a_pod_is_bound_once(t):
    t.create(pod("p"))
    answer = bind(t, "p", "n1", annotations={"example.com/by": "me"}).has_status(201).json()
    expect(answer, {"kind": "Status", "status": "Success", "code": 201})
    expect(t.get("Pod", "p"), {
        "metadata": {"annotations": {"example.com/by": "me"}}, "spec": {"nodeName": "n1"},
        "status": {"conditions": [{"type": "PodScheduled", "status": "True"}]}})
    for node in ("n1", "n2"):
        bind(t, "p", node).rejects(
            409, 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to '
            'node "n1"', "Conflict")


@test
def a_binding_gives_the_pod_its_annotations_with_the_node(t):
    t.create(pod("p", annotations={"example.com/kept": "a", "example.com/by": "nobody"}))
    before = t.get("Pod", "p")["metadata"]["resourceVersion"]
    bind(t, "p", "n1", annotations={"example.com/by": "me", "example.com/cpus": "0-3"})
    # The first write after the pod's creation shows both: nobody sees one without the other.
    first = next(t.api.watch(kind_path("Pod", t.namespace), {"resourceVersion": before}, 60))
    expect(first["object"], {
        "metadata": {"name": "p", "annotations": {
            "example.com/kept": "a", "example.com/by": "me", "example.com/cpus": "0-3"}},
        "spec": {"nodeName": "n1"}})


@test
def a_binding_can_be_created_by_kubectl(t):
    t.create(pod("p"))
    t.kubectl("create", "-f", "-", "--validate=false", input=binding("p", "n1"))
    expect(t.get("Pod", "p")["spec"], {"nodeName": "n1"})


@test
def bindings_that_are_refused(t):
    made = t.create(pod("p", schedulingGates=[{"name": "example.com/gate"}]))
    bind(t, "p", "n1").rejects(
        409, 'Operation cannot be fulfilled on pods/binding "p": pod p has non-empty '
        ".spec.schedulingGates", "Conflict")
    t.patch("Pod", "p", {"spec": {"schedulingGates": None}})
    bind(t, "p", "n1", uid="0d6d9e4b-0000-0000-0000-000000000000").rejects(409, reason="Conflict")
    bind(t, "none", "n1").rejects(404, 'pods "none" not found', "NotFound")
    path = kind_path("Pod", t.namespace, "p", "binding")
    t.api.request("POST", path, binding("q", "n1")).rejects(
        400, "name in URL does not match name in Binding object", "BadRequest")
    bind(t, "p", "n1", uid=made["metadata"]["uid"]).has_status(201)


@test
def eviction_deletes_the_pod(t):
    running_pods(t, "a", "b")
    expect(evict(t, "a").has_status(201).json(), {"kind": "Status", "status": "Success"})
    t.gone("Pod", "a")
    evict(t, "b", api="policy/v1beta1").has_status(201)
    t.gone("Pod", "b")
    evict(t, "none").rejects(404, 'pods "none" not found', "NotFound")


@test
def eviction_respects_the_budget(t):
    running_pods(t, "a", "b")
    status = settled_budget(t, 2, minAvailable=2)
    expect(status, {"disruptionsAllowed": 0, "desiredHealthy": 2, "expectedPods": 2})
    refused = evict(t, "a").rejects(
        429, "Cannot evict pod as it would violate the pod's disruption budget.",
        "TooManyRequests")
    expect(refused["details"], {"causes": [{
        "reason": "DisruptionBudget",
        "message": "The disruption budget b needs 2 healthy pods and has 2 currently"}],
        "retryAfterSeconds": ABSENT})
    assert "deletionTimestamp" not in t.get("Pod", "a")["metadata"]


@test
def eviction_uses_up_the_budget(t):
    """Of three pods one may go; the second eviction is refused at once, before any recount."""
    running_pods(t, "a", "b", "c")
    status = settled_budget(t, 3, minAvailable=2)
    expect(status, {"disruptionsAllowed": 1})
    for name in ("a", "b", "c"):  # held, so that the pods stay counted while we look
        t.hold("Pod", name)
    evict(t, "a").has_status(201)
    evict(t, "b").rejects(429, reason="TooManyRequests")
    evict(t, "a").has_status(201)  # it is being deleted already
    expect(t.get("Pod", "a")["status"]["conditions"], lambda conditions: any(
        c["type"] == "DisruptionTarget" and c["reason"] == "EvictionByEvictionAPI"
        for c in conditions))


@test
def eviction_of_an_unhealthy_pod(t):
    """A pod that is not ready does not count, so it may go while the others are enough."""
    running_pods(t, "good")
    t.create(pod("bad", run=True, labels={"app": "x"}, annotations={READY: "false"}))
    t.running("bad")
    settled_budget(t, 1, minAvailable=1)
    evict(t, "good").rejects(429, reason="TooManyRequests")
    evict(t, "bad").has_status(201)
    t.gone("Pod", "bad")


@test
def eviction_with_two_budgets(t):
    running_pods(t, "a")
    settled_budget(t, 1, minAvailable=0)
    t.create(budget("c", {"app": "x"}, minAvailable=0))
    t.eventually(lambda: evict(t, "a").rejects(
        500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
        "not support."))


@test
def eviction_dry_run(t):
    running_pods(t, "a")
    evict(t, "a", deleteOptions={"dryRun": ["All"]}).has_status(201)
    assert "deletionTimestamp" not in t.get("Pod", "a")["metadata"]


@test
def percentages_in_a_budget(t):
    """They are of the replicas that the pods' controller should have, rounded up."""
    t.run_pods()
    t.create(replica_set("x", replicas=3, run=True))
    t.eventually(lambda: t.get("ReplicaSet", "x")["status"].get("readyReplicas") == 3)
    status = settled_budget(t, 3, minAvailable="50%")
    expect(status, {"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2,
                    "expectedPods": 3, "conditions": [{
                        "type": "DisruptionAllowed", "status": "True",
                        "reason": "SufficientPods"}]})
    t.kubectl("get", "pdb", "b", "--no-headers").prints("b  50%  N/A  1  <<AGE>>")
    t.patch("PodDisruptionBudget", "b", {"spec": {"minAvailable": None, "maxUnavailable": "34%"}})
    t.eventually(lambda: t.get("PodDisruptionBudget", "b")["status"]["disruptionsAllowed"] == 2)


@test
def scale_of_a_deployment(t):
    t.create(deployment("d", replicas=0))
    path = kind_path("Deployment", t.namespace, "d", "scale")
    scale = t.api.request("GET", path).has_status(200).json()
    expect(scale, {"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {},
                   "metadata": {"name": "d"}, "status": {"replicas": 0, "selector": "app=d"}})
    scale["spec"]["replicas"] = 3
    del scale["metadata"]["resourceVersion"]  # its controller may have written meanwhile
    t.api.request("PUT", path, scale).has_status(200)
    expect(t.get("Deployment", "d")["spec"], {"replicas": 3})


@test
def scale_of_a_custom_resource(t):
    t.widgets()
    t.create(widget("w", replicas=2))
    t.set_status("Widget", "w", {"replicas": 1, "selector": "app=w"})
    t.kubectl("scale", "widget", "w", "--replicas=3").contains("widget.<<.*>>/w scaled")
    expect(t.get("Widget", "w"), {"spec": {"replicas": 3}, "metadata": {"generation": 2}})
    scale = t.api.get("Widget", "w", t.namespace, subresource="scale")
    expect(scale, {"spec": {"replicas": 3}, "status": {"replicas": 1, "selector": "app=w"}})


@test
def status_and_spec_are_written_apart(t):
    t.widgets()
    t.create({**widget("w", mode="a"), "status": {"phase": "ignored"}})
    expect(t.get("Widget", "w"), {"status": ABSENT})
    t.set_status("Widget", "w", {"phase": "Ready"})
    t.patch("Widget", "w", {"spec": {"mode": "b"}, "status": {"phase": "ignored"}})
    expect(t.get("Widget", "w"), {"spec": {"mode": "b"}, "status": {"phase": "Ready"},
                                  "metadata": {"generation": 2}})


@test
def strategic_status_of_a_pod_keeps_other_conditions(t):
    t.create(pod("p"))
    for kind in ("example.com/One", "example.com/Two"):
        t.patch("Pod", "p", {"status": {"conditions": [{"type": kind, "status": "True"}]}},
                subresource="status", content_type="application/strategic-merge-patch+json")
    kinds = {c["type"] for c in t.get("Pod", "p")["status"]["conditions"]}
    assert kinds >= {"example.com/One", "example.com/Two"}, kinds


# What the author of a pod may not write, in every part of metadata that a patch can bring along.
SMUGGLED = {
    "labels": {"app": "y", "koordinator.sh/qosClass": "LSR"},
    "annotations": {"scheduling.koordinator.sh/resource-status": '{"cpuset":"0-3"}',
                    "scheduling.koordinator.sh/device-allocated": "{}"},
    "finalizers": ["example.com/stay"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}],
}


def sized_pod(t):
    return t.create(pod("p", labels={"app": "x"}, containers=[
        container(resources={"requests": {"cpu": "1", "memory": "1Gi"},
                             "limits": {"cpu": "2", "memory": "2Gi"}})]))


def patch_part(t, subresource, patch, content_type=STRATEGIC_PATCH):
    path = kind_path("Pod", t.namespace, "p", subresource)
    return t.api.request("PATCH", path, patch, content_type=content_type)


def expect_metadata_kept(t):
    expect(t.get("Pod", "p")["metadata"], {
        "labels": lambda labels: labels == {"app": "x"}, "annotations": ABSENT,
        "finalizers": ABSENT, "ownerReferences": ABSENT})


@test
def a_resize_changes_nothing_of_metadata(t):
    sized_pod(t)
    patch_part(t, "resize", {"metadata": SMUGGLED, "spec": {"containers": [
        {"name": "app", "resources": {"requests": {"cpu": "1500m"}}}]}}).has_status(200)
    expect_metadata_kept(t)
    resources = t.get("Pod", "p")["spec"]["containers"][0]["resources"]
    expect(resources, {"requests": {"cpu": "1500m", "memory": "1Gi"}})
    patch_part(t, "resize", {"metadata": SMUGGLED}, content_type=MERGE_PATCH).has_status(200)
    expect_metadata_kept(t)


@test
def ephemeral_containers_change_nothing_of_metadata(t):
    sized_pod(t)
    patch_part(t, "ephemeralcontainers", {"metadata": SMUGGLED, "spec": {
        "nodeName": "n1", "ephemeralContainers": [container("debug")]}}).has_status(200)
    expect_metadata_kept(t)
    expect(t.get("Pod", "p")["spec"], {
        "nodeName": ABSENT, "ephemeralContainers": [{"name": "debug"}]})
    patch_part(t, "ephemeralcontainers", {"metadata": SMUGGLED},
               content_type=MERGE_PATCH).has_status(200)
    expect_metadata_kept(t)


@test
def the_status_of_a_pod_comes_with_labels_and_annotations(t):
    """Of metadata they alone: webhooks that guard them have to look at this way, too."""
    sized_pod(t)
    patch_part(t, "status", {
        "metadata": {"labels": {"a": "b"}, "annotations": {"example.com/c": "d"},
                     "ownerReferences": SMUGGLED["ownerReferences"]},
        "spec": {"nodeName": "n1"}, "status": {"message": "m"}}).has_status(200)
    expect(t.get("Pod", "p"), {
        "metadata": {"labels": {"app": "x", "a": "b"}, "annotations": {"example.com/c": "d"},
                     "ownerReferences": ABSENT},
        "spec": {"nodeName": ABSENT}, "status": {"message": "m"}})


@test
def resizes_that_are_refused(t):
    sized_pod(t)
    for containers in (
            [container("new")],
            [{"name": "app", "resources": {"requests": None, "limits": None}}],
            [{"name": "app", "resources": {"limits": {"example.com/card": "1"},
                                           "requests": {"example.com/card": "1"}}}],
            [{"name": "app", "resources": {"requests": {"cpu": "2", "memory": "2Gi"}}}]):
        patch_part(t, "resize", {"metadata": SMUGGLED, "spec": {"containers": containers}}).rejects(
            422, reason="Invalid")
    expect_metadata_kept(t)


@test
def ephemeral_containers_are_only_added(t):
    sized_pod(t)
    for name in ("one", "two"):
        patch_part(t, "ephemeralcontainers",
                   {"spec": {"ephemeralContainers": [container(name)]}}).has_status(200)
    for containers in ([], [container("one", image="other.example.com/image"), container("two")]):
        patch_part(t, "ephemeralcontainers", {"spec": {"ephemeralContainers": containers}},
                   content_type=MERGE_PATCH).rejects(422, reason="Invalid")
    names = {c["name"] for c in t.get("Pod", "p")["spec"]["ephemeralContainers"]}
    assert names == {"one", "two"}, names
