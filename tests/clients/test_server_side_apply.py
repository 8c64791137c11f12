"""kubectl apply --server-side: fields have owners."""

import re

from harness.api import APPLY_PATCH, object_path
from harness.check import ABSENT, expect
from harness.objects import config_map, container, deployment
from harness.registry import test
from harness.widgets import GROUP, widget


def apply(t, thing, *flags, manager=None):
    flags = [*flags, f"--field-manager={manager}"] if manager else flags
    return t.kubectl("apply", "--server-side", *flags, "-f", "-", input=thing)


def managers(thing):
    return sorted((entry["manager"], entry["operation"])
                  for entry in thing["metadata"]["managedFields"])


@test
def creates_and_changes(t):
    apply(t, config_map("a", {"x": "1"})).prints("configmap/a serverside-applied")
    apply(t, config_map("a", {"x": "2"})).prints("configmap/a serverside-applied")
    thing = t.get("ConfigMap", "a")
    expect(thing, {
        "data": {"x": "2"},
        "metadata": {"annotations": ABSENT, "managedFields": [{
            "manager": "kubectl", "operation": "Apply", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:x": {}}}}]}})


@test
def the_same_again_changes_nothing(t):
    apply(t, config_map("a", {"x": "1"}))
    before = t.get("ConfigMap", "a")
    apply(t, config_map("a", {"x": "1"}))
    expect(t.get("ConfigMap", "a"), before)


@test
def what_is_no_longer_applied_goes(t):
    apply(t, config_map("a", {"x": "1", "y": "1"}))
    t.patch("ConfigMap", "a", {"data": {"z": "1"}})
    apply(t, config_map("a", {"x": "1"}))
    expect(t.get("ConfigMap", "a"), {"data": {"x": "1", "y": ABSENT, "z": "1"}})


@test
def what_another_owns_too_stays(t):
    apply(t, config_map("a", {"x": "1", "y": "1"}), manager="one")
    apply(t, config_map("a", {"y": "1"}), manager="two")
    apply(t, config_map("a", {"x": "1"}), manager="one")
    expect(t.get("ConfigMap", "a"), {"data": {"x": "1", "y": "1"}})
    apply(t, config_map("a", {}), manager="two")
    expect(t.get("ConfigMap", "a"), {"data": {"x": "1", "y": ABSENT}})


@test
def a_conflict_with_another_applier(t):
    apply(t, config_map("a", {"x": "1"}), manager="one")
    answer = t.kubectl_fails("apply", "--server-side", "--field-manager=two", "-f", "-",
                             input=config_map("a", {"x": "2"}))
    answer.mentions('Apply failed with 1 conflict: conflict with "one": .data.x')
    answer.mentions(
        "Please review the fields above--they currently have other managers.",
        "* If you intend to manage all of these fields, please re-run the apply",
        "command with the `--force-conflicts` flag.")
    expect(t.get("ConfigMap", "a"), {"data": {"x": "1"}})


@test
def a_conflict_with_an_editor(t):
    apply(t, deployment("d", replicas=0), manager="one")
    t.kubectl("scale", "deployment", "d", "--replicas=1")
    t.patch("Deployment", "d", {"metadata": {"labels": {"app": "mine"}},
                                "spec": {"revisionHistoryLimit": 3}})
    changed = deployment("d", replicas=0, revisionHistoryLimit=5)
    answer = t.kubectl_fails("apply", "--server-side", "--field-manager=one", "-f", "-",
                             input=changed)
    answer.mentions(
        "Apply failed with 3 conflicts: conflicts with",
        'conflicts with "clients-test" using apps/v1<<( at .*)?>>:\n'
        "- .metadata.labels.app\n- .spec.revisionHistoryLimit",
        'with subresource "scale" using apps/v1<<( at .*)?>>:\n- .spec.replicas')
    apply(t, changed, "--force-conflicts", manager="one")
    expect(t.get("Deployment", "d"), {"metadata": {"labels": {"app": "d"}},
                                      "spec": {"replicas": 0, "revisionHistoryLimit": 5}})


@test
def force_takes_ownership(t):
    apply(t, config_map("a", {"x": "1"}), manager="one")
    apply(t, config_map("a", {"x": "2"}), "--force-conflicts", manager="two")
    thing = t.get("ConfigMap", "a")
    expect(thing["data"], {"x": "2"})
    assert managers(thing) == [("two", "Apply")], managers(thing)


@test
def the_same_value_is_shared(t):
    apply(t, config_map("a", {"x": "1"}), manager="one")
    apply(t, config_map("a", {"x": "1"}), manager="two")
    thing = t.get("ConfigMap", "a")
    assert managers(thing) == [("one", "Apply"), ("two", "Apply")], managers(thing)


@test
def takes_over_from_client_side_apply(t):
    t.kubectl("apply", "-f", "-", input=config_map("a", {"x": "1", "y": "1"}))
    apply(t, config_map("a", {"x": "2"}), "--force-conflicts")
    thing = t.get("ConfigMap", "a")
    if t.minor >= 26:  # it moves the ownership of what the client-side apply had put there
        expect(thing["data"], {"x": "2", "y": ABSENT})
        assert ("kubectl-client-side-apply", "Update") not in managers(thing), managers(thing)
    else:
        expect(thing["data"], {"x": "2", "y": "1"})
    assert ("kubectl", "Apply") in managers(thing), managers(thing)


@test
def lists_are_merged_by_key(t):
    def with_containers(*containers):
        thing = deployment("d", replicas=0)
        thing["spec"]["template"]["spec"]["containers"] = list(containers)
        return thing

    apply(t, with_containers(container("a"), container("b", env=[{"name": "X", "value": "1"}])))
    apply(t, with_containers(container("c")), manager="two")
    apply(t, with_containers(container("b", env=[{"name": "Y", "value": "2"}])))
    containers = t.get("Deployment", "d")["spec"]["template"]["spec"]["containers"]
    names = sorted(c["name"] for c in containers)
    assert names == ["b", "c"], containers
    b = next(c for c in containers if c["name"] == "b")
    expect(b["env"], [{"name": "Y", "value": "2"}])


@test
def a_custom_resource(t):
    t.widgets()
    apply(t, widget("w", mode="a", tags=["x"], ports=[{"name": "p", "port": 1}])).prints(
        f"widget.{GROUP}/w serverside-applied")
    apply(t, widget("w", tags=["y"], ports=[{"name": "q", "port": 2}]), manager="two")
    expect(t.get("Widget", "w"), {"spec": {
        "mode": "a", "replicas": 1, "tags": ["x", "y"],
        "ports": [{"name": "p", "port": 1, "protocol": "TCP"},
                  {"name": "q", "port": 2, "protocol": "TCP"}]}})
    apply(t, widget("w", tags=["z"]))
    expect(t.get("Widget", "w"), {"spec": {
        "mode": ABSENT, "tags": ["y", "z"], "ports": [{"name": "q"}]}})
    t.kubectl_fails("apply", "--server-side", "-f", "-", input=widget(
        "w", ports=[{"name": "q", "port": 3}])).mentions(
            'conflict with "two": .spec.ports[name="q"].port')


@test
def status_is_not_applied_with_the_object(t):
    t.widgets()
    apply(t, {**widget("w", mode="a"), "status": {"phase": "Ready"}})
    expect(t.get("Widget", "w"), {"status": ABSENT})


@test
def a_manager_is_required(t):
    t.create(config_map("a"))
    path = object_path(t.get("ConfigMap", "a"))
    t.api.request("PATCH", path, config_map("a"), APPLY_PATCH).rejects(
        422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required '
        "for apply patch", "Invalid")


@test
def the_conflict_names_each_field(t):
    """What a program gets: one cause for each field."""
    apply(t, config_map("a", {"x": "1", "y": "1"}), manager="one")
    path = object_path(t.get("ConfigMap", "a"))
    status = t.api.request("PATCH", path, config_map("a", {"x": "2", "y": "2"}), APPLY_PATCH,
                           {"fieldManager": "two"}).rejects(409, reason="Conflict")
    expect(status["details"]["causes"], [
        {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.x"},
        {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.y"}])
    assert status["message"] == (
        'Apply failed with 2 conflicts: conflicts with "one":\n- .data.x\n- .data.y'), status


@test
def updates_are_tracked_by_manager(t):
    t.kubectl("create", "configmap", "a", "--from-literal=x=1")
    t.kubectl("label", "configmap", "a", "l=1")
    t.kubectl("annotate", "configmap", "a", "n=1", *(
        ["--field-manager=me"] if t.minor >= 21 else []))
    found = {entry["manager"]: entry for entry in
             t.get("ConfigMap", "a")["metadata"]["managedFields"]}
    owned = {name: sorted(entry["fieldsV1"]) for name, entry in found.items()}
    expected = {"kubectl-create": ["f:data"], "kubectl-label": ["f:metadata"], "me": ["f:metadata"]}
    if t.minor < 21:
        expected = {"kubectl-create": ["f:data"], "kubectl-label": ["f:metadata"],
                    "kubectl-annotate": ["f:metadata"]}
    expect(owned, expected)
    assert all(re.match("20..-", entry["time"]) for entry in found.values())
