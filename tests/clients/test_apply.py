"""kubectl apply, as the client computes it, and kubectl diff."""

import copy
import json

from harness.check import ABSENT
from harness.objects import config_map, container, deployment
from harness.registry import test
from harness.widgets import GROUP, widget

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def applied(t, thing, *flags):
    return t.kubectl("apply", *flags, "-f", "-", input=thing)


@test
def creates_changes_and_leaves_alone(t):
    applied(t, config_map("a", {"x": "1"})).prints("configmap/a created")
    applied(t, config_map("a", {"x": "1"})).prints("configmap/a unchanged")
    applied(t, config_map("a", {"x": "2"})).prints("configmap/a configured")
    t.kubectl("get", "configmap", "a", "-o", "jsonpath={.data.x}").prints("2")


@test
def remembers_what_was_applied(t):
    applied(t, config_map("a", {"x": "1"}))
    annotation = t.get("ConfigMap", "a")["metadata"]["annotations"][LAST_APPLIED]
    assert json.loads(annotation)["data"] == {"x": "1"}, annotation
    t.kubectl("apply", "view-last-applied", "configmap/a").contains("""
        data:
          x: "1"
    """)


@test
def removes_what_is_no_longer_applied(t):
    """Only what an earlier apply had put there goes; what others added stays."""
    applied(t, config_map("a", {"x": "1", "y": "1"}, labels={"mine": "1", "kept": "1"}))
    t.patch("ConfigMap", "a", {"data": {"z": "1"}, "metadata": {"labels": {"theirs": "1"}}})
    applied(t, config_map("a", {"x": "1"}, labels={"kept": "1"})).prints("configmap/a configured")
    t.kubectl("get", "configmap", "a", "-o", "json").holds({
        "data": {"x": "1", "y": ABSENT, "z": "1"},
        "metadata": {"labels": {"mine": ABSENT, "theirs": "1", "kept": "1"}}})


@test
def merges_lists_by_their_keys(t):
    thing = deployment("d", replicas=0)
    pod = thing["spec"]["template"]["spec"]
    pod["containers"] = [container("a", env=[{"name": "E", "value": "1"}]), container("b")]
    applied(t, thing)
    t.patch("Deployment", "d", {"spec": {"template": {"spec": {"containers": [
        {"name": "sidecar", "image": "example.com/s:1"}]}}}},
        content_type="application/strategic-merge-patch+json")
    changed = copy.deepcopy(thing)
    changed["spec"]["template"]["spec"]["containers"] = [
        container("a", image="example.com/a:2", env=[{"name": "E", "value": "1"},
                                                     {"name": "F", "value": "2"}])]
    applied(t, changed).prints("deployment.apps/d configured")
    containers = {c["name"]: c for c in
                  t.get("Deployment", "d")["spec"]["template"]["spec"]["containers"]}
    assert set(containers) == {"a", "sidecar"}, containers
    assert containers["a"]["image"] == "example.com/a:2", containers
    assert [e["name"] for e in containers["a"]["env"]] == ["E", "F"], containers


@test
def equal_quantities_are_no_change(t):
    thing = deployment("d", replicas=0)
    thing["spec"]["template"]["spec"]["containers"] = [
        container(resources={"requests": {"cpu": "0.5", "memory": "1024Mi"}})]
    applied(t, thing)
    applied(t, thing)
    generation = t.get("Deployment", "d")["metadata"]["generation"]
    assert generation == 1, generation


@test
def adopts_an_object_made_otherwise(t):
    t.create(config_map("a", {"x": "1", "old": "1"}))
    answer = applied(t, config_map("a", {"x": "2"})).prints("configmap/a configured")
    answer.mentions(
        f"configmaps<</>>a is missing the <<(annotation )?>>{LAST_APPLIED}<<( annotation)?>> which "
        "is required by" if t.minor >= 21 else "Warning: resource")
    t.kubectl("get", "configmap", "a", "-o", "json").holds({"data": {"x": "2", "old": "1"}})


@test
def a_custom_resource(t):
    t.widgets()
    name = f"widget.{GROUP}/w"
    applied(t, widget("w", mode="a", replicas=2, tags=["x"])).prints(f"{name} created")
    applied(t, widget("w", mode="a", replicas=2, tags=["x"])).prints(f"{name} unchanged")
    applied(t, widget("w", mode="b", tags=["y", "z"])).prints(f"{name} configured")
    t.kubectl("get", "widget", "w", "-o", "json").holds({
        "metadata": {"generation": 2},
        "spec": {"mode": "b", "tags": ["y", "z"], "replicas": 1}})  # the default again


@test
def a_folder_with_a_definition_and_its_object(t):
    applied(t, {"apiVersion": "v1", "kind": "List", "items": [
        config_map("a"), config_map("b"), deployment("d", replicas=0)]}).prints("""
            configmap/a created
            configmap/b created
            deployment.apps/d created
        """)


@test
def dry_run_by_the_server(t):
    applied(t, config_map("a", {"x": "1"}), "--dry-run=server").prints(
        "configmap/a created (server dry run)")
    assert not t.exists("ConfigMap", "a")
    applied(t, config_map("a", {"x": "1"}))
    before = t.get("ConfigMap", "a")
    applied(t, config_map("a", {"x": "2"}), "--dry-run=server").prints(
        "configmap/a configured (server dry run)")
    assert t.get("ConfigMap", "a") == before


@test
def prune_by_label(t):
    def labelled(name):
        return config_map(name, labels={"set": "1"})

    applied(t, {"apiVersion": "v1", "kind": "List", "items": [labelled("a"), labelled("b")]})
    t.create(labelled("not-applied"))
    # The default list of kinds to prune names versions that are long gone.
    flag = "--prune-whitelist" if t.minor < 26 else "--prune-allowlist"
    applied(t, labelled("a"), "--prune", "-l", "set=1", f"{flag}=core/v1/ConfigMap").contains(
        "configmap/a unchanged", "configmap/b pruned")
    assert t.exists("ConfigMap", "not-applied")


@test
def an_immutable_field_is_refused(t):
    applied(t, deployment("d", replicas=0))
    changed = deployment("d", replicas=0)
    changed["spec"]["selector"]["matchLabels"] = {"app": "other"}
    changed["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    t.kubectl_fails("apply", "-f", "-", input=changed).mentions(
        'The Deployment "d" is invalid: spec.selector: Invalid value: <<.*>>: field is immutable')


@test
def force_recreates_what_cannot_change(t):
    applied(t, deployment("d", replicas=0))
    uid = t.get("Deployment", "d")["metadata"]["uid"]
    changed = deployment("d", replicas=0)
    changed["spec"]["selector"]["matchLabels"] = {"app": "other"}
    changed["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    applied(t, changed, "--force").prints("deployment.apps/d configured")
    assert t.get("Deployment", "d")["metadata"]["uid"] != uid


@test
def diff_shows_the_change(t):
    applied(t, config_map("a", {"x": "1"}))
    t.kubectl("diff", "-f", "-", input=config_map("a", {"x": "1"})).prints("")
    t.kubectl_fails("diff", "-f", "-", input=config_map("a", {"x": "2", "z": "3"})).contains(
        '-  x: "1"', '+  x: "2"', '+  z: "3"')
    assert t.get("ConfigMap", "a")["data"] == {"x": "1"}


@test
def diff_of_a_new_object(t):
    t.kubectl_fails("diff", "-f", "-", input=config_map("a", {"x": "1"})).contains(
        "+kind: ConfigMap", '+  x: "1"')
    assert not t.exists("ConfigMap", "a")


@test
def diff_of_a_custom_resource(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    t.kubectl_fails("diff", "-f", "-", input=widget("w", mode="b")).contains(
        "-  mode: a", "+  mode: b").lacks("replicas: <<\\d+ *$>>\n+")


@test
def set_last_applied_and_edit(t):
    t.create(config_map("a", {"x": "1"}))
    t.kubectl("apply", "set-last-applied", "--create-annotation", "-f", "-",
              input=config_map("a", {"x": "1"})).prints("configmap/a configured")
    applied(t, config_map("a", {"z": "1"}))
    t.kubectl("get", "configmap", "a", "-o", "json").holds({"data": {"x": ABSENT, "z": "1"}})
    editor = t.script("editor", 'sed -i \'s/z: "1"/z: "2"/\' "$1"')
    t.kubectl("apply", "edit-last-applied", "configmap/a",
              environment={"KUBE_EDITOR": str(editor)}).prints("configmap/a edited")
    t.kubectl("apply", "view-last-applied", "configmap/a").contains('data:\n  z: "2"')
