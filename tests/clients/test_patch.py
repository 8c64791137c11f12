"""kubectl patch, edit, replace, label, annotate."""

import json

from harness.api import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, object_path
from harness.check import ABSENT, expect
from harness.objects import config_map, container, deployment, pod
from harness.registry import test
from harness.widgets import GROUP, widget


def patch(t, what, kind, patch):
    return t.kubectl("patch", *what, f"--type={kind}", "-p", json.dumps(patch))


@test
def merge(t):
    t.create(config_map("a", {"x": "1", "y": "1"}))
    patch(t, ["cm", "a"], "merge", {"data": {"x": None, "z": "2"}}).prints("configmap/a patched")
    expect(t.get("ConfigMap", "a")["data"], {"x": ABSENT, "y": "1", "z": "2"})
    patch(t, ["cm", "a"], "merge", {"data": {"z": "2"}}).prints("configmap/a patched (no change)")


@test
def json_operations(t):
    t.create(deployment("d", replicas=0))
    patch(t, ["deployment", "d"], "json", [
        {"op": "test", "path": "/spec/replicas", "value": 0},
        {"op": "add", "path": "/spec/template/spec/containers/-", "value": container("b")},
        {"op": "add", "path": "/metadata/labels/example.com~1x", "value": "1"},
        {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "i:2"},
        {"op": "remove", "path": "/metadata/labels/app"},
        {"op": "copy", "from": "/metadata/labels/example.com~1x", "path": "/metadata/labels/y"},
    ]).prints("deployment.apps/d patched")
    thing = t.get("Deployment", "d")
    expect(thing["metadata"]["labels"], {"app": ABSENT, "example.com/x": "1", "y": "1"})
    expect(thing["spec"]["template"]["spec"]["containers"], [
        {"name": "app", "image": "i:2"}, {"name": "b"}])


@test
def a_failed_test_operation(t):
    t.create(config_map("a", {"x": "1"}))
    for operations in ([{"op": "test", "path": "/data/x", "value": "2"}],
                       [{"op": "remove", "path": "/data/none"}]):
        t.kubectl_fails("patch", "cm", "a", "--type=json", "-p", json.dumps(operations)).mentions(
            "The request is invalid" if t.minor < 21 else "The request is invalid: the server "
            "rejected our request due to an error in our request")


@test
def strategic_merges_lists(t):
    t.create(deployment("d", replicas=0))
    patch(t, ["deployment", "d"], "strategic", {"spec": {"template": {"spec": {
        "containers": [{"name": "sidecar", "image": "s:1"}, {"name": "app", "image": "i:2"}]}}}})
    spec = t.get("Deployment", "d")["spec"]["template"]["spec"]
    expect(spec["containers"], [
        {"name": "sidecar", "image": "s:1"}, {"name": "app", "image": "i:2"}])
    patch(t, ["deployment", "d"], "strategic", {"spec": {"template": {"spec": {
        "containers": [{"name": "app", "$patch": "delete"}]}}}})
    spec = t.get("Deployment", "d")["spec"]["template"]["spec"]
    expect(spec["containers"], [{"name": "sidecar"}])


@test
def strategic_directives(t):
    """The cases that a list of named items, an atomic list and a list of strings differ in."""
    def containers(thing):
        return [c["name"] for c in thing["spec"]["template"]["spec"]["containers"]]

    def change(spec):
        return t.patch("Deployment", "d", {"spec": {"template": {"spec": spec}}},
                       content_type=STRATEGIC_PATCH)

    thing = deployment("d", replicas=0)
    thing["metadata"]["finalizers"] = ["example.com/x", "example.com/y"]
    thing["spec"]["template"]["spec"] |= {
        "containers": [container("a"), container("b"), container("c")],
        "tolerations": [{"key": "a"}, {"key": "b"}],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]}
    t.create(thing)
    t.cleanup(t.release, "Deployment", "d")
    made = change({"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
                   "containers": [{"name": "c", "image": "i:2"}]})
    assert containers(made) == ["b", "c", "a"], made
    made = change({"tolerations": [{"key": "z"}]})
    expect(made["spec"]["template"]["spec"]["tolerations"], [{"key": "z"}])
    made = change({"volumes": [{"name": "u", "emptyDir": {}}]})
    expect(made["spec"]["template"]["spec"]["volumes"], [
        {"name": "u"}, {"name": "v"}, {"name": "w"}])
    made = change({"volumes": [{"name": "v", "hostPath": {"path": "/x"}, "$retainKeys": [
        "name", "hostPath"]}]})
    expect([v for v in made["spec"]["template"]["spec"]["volumes"] if v["name"] == "v"], [
        {"name": "v", "hostPath": {"path": "/x"}, "emptyDir": ABSENT}])
    made = t.patch("Deployment", "d", {"metadata": {
        "$deleteFromPrimitiveList/finalizers": ["example.com/x"]}}, content_type=STRATEGIC_PATCH)
    expect(made["metadata"]["finalizers"], ["example.com/y"])
    made = change({"containers": [{"name": "only", "image": "i"}, {"$patch": "replace"}]})
    assert containers(made) == ["only"], made


@test
def strategic_is_not_for_custom_resources(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    t.kubectl_fails("patch", "widget", "w", "-p", '{"spec":{"mode":"b"}}').mentions(
        "<<(strategic merge patch is not supported for|the body of the request was in an unknown "
        "format - accepted media types include: application/json-patch\\+json, application/merge-"
        "patch\\+json, application/apply-patch\\+yaml)>>")
    patch(t, ["widget", "w"], "merge", {"spec": {"mode": "b"}}).prints(f"widget.{GROUP}/w patched")
    expect(t.get("Widget", "w"), {"spec": {"mode": "b"}, "metadata": {"generation": 2}})


@test
def a_patch_that_changes_nothing_writes_nothing(t):
    made = t.create(config_map("a", {"x": "1"}))
    for kind, content in ((MERGE_PATCH, {"data": {"x": "1", "none": None}}),
                          (STRATEGIC_PATCH, {"data": {"x": "1"}}),
                          (JSON_PATCH, [{"op": "replace", "path": "/data/x", "value": "1"}])):
        same = t.patch("ConfigMap", "a", content, content_type=kind)
        assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"], kind


@test
def a_version_in_the_patch_is_a_condition(t):
    made = t.create(config_map("a", {"x": "1"}))
    t.patch("ConfigMap", "a", {"data": {"x": "2"}})
    stale = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]},
             "data": {"x": "3"}}
    t.kubectl_fails("patch", "cm", "a", "--type=merge", "-p", json.dumps(stale)).complains(
        'Error from server (Conflict): Operation cannot be fulfilled on configmaps "a": the object '
        "has been modified; please apply your changes to the latest version and try again")


@test
def a_malformed_patch(t):
    made = t.create(config_map("a"))
    path = object_path(made)
    t.api.request("PATCH", path, b"{", MERGE_PATCH).has_status(400)
    t.api.request("PATCH", path, b'{"x":1}', JSON_PATCH).rejects(400, reason="BadRequest")
    t.api.request("PATCH", path, b"{}", "text/plain").has_status(415)
    t.kubectl_fails("patch", "cm", "none", "--type=merge", "-p", "{}").complains(
        'Error from server (NotFound): configmaps "none" not found')


@test
def from_a_local_file_and_dry_run(t):
    t.create(config_map("a", {"x": "1"}))
    t.kubectl("patch", "cm", "a", "--type=merge", "-p", '{"data":{"x":"2"}}', "--dry-run=server",
              "-o", "jsonpath={.data.x}").prints("2")
    expect(t.get("ConfigMap", "a")["data"], {"x": "1"})


@test(since=24)
def the_status_subresource(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    t.kubectl("patch", "widget", "w", "--subresource=status", "--type=merge", "-p",
              '{"status":{"phase":"Ready"},"spec":{"mode":"b"}}')
    expect(t.get("Widget", "w"), {"status": {"phase": "Ready"}, "spec": {"mode": "a"},
                                  "metadata": {"generation": 1}})


@test
def edit_with_an_editor(t):
    t.create(config_map("a", {"x": "before"}))
    editor = t.script("editor", 'sed -i "s/x: before/x: after/" "$1"')
    t.kubectl("edit", "cm", "a", environment={"KUBE_EDITOR": str(editor)}).prints(
        "configmap/a edited")
    expect(t.get("ConfigMap", "a")["data"], {"x": "after"})
    t.kubectl("edit", "cm", "a", environment={"KUBE_EDITOR": "true"}).complains(
        "Edit cancelled, no changes made.")


@test
def edit_of_a_custom_resource(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    editor = t.script("editor", 'sed -i "s/mode: a/mode: b/" "$1"')
    t.kubectl("edit", "widget", "w", environment={"KUBE_EDITOR": str(editor)}).prints(
        f"widget.{GROUP}/w edited")
    expect(t.get("Widget", "w")["spec"], {"mode": "b"})


@test
def edit_with_an_error_opens_the_editor_again(t):
    """The refused text comes back with the reason on top; the second try is right."""
    t.widgets()
    t.create(widget("w", mode="a"))
    seen = t.file("seen", "")
    editor = t.script("editor", f'cp "$1" {seen}; sed -i "s/mode: z/mode: b/; '
                                's/mode: a/mode: z/" "$1"')
    t.kubectl("edit", "widget", "w", environment={"KUBE_EDITOR": str(editor)})
    expect(t.get("Widget", "w")["spec"], {"mode": "b"})
    assert 'spec.mode: Unsupported value: "z": supported values: "a", "b"' in seen.read_text()


@test
def replace_takes_the_whole_object(t):
    t.create(config_map("a", {"x": "1", "y": "1"}, labels={"l": "1"}))
    t.kubectl("replace", "-f", "-", input=config_map("a", {"x": "2"})).prints(
        "configmap/a replaced")
    expect(t.get("ConfigMap", "a"), {"data": {"x": "2", "y": ABSENT},
                                     "metadata": {"labels": ABSENT}})
    t.kubectl_fails("replace", "-f", "-", input=config_map("none")).complains(
        'Error from server (NotFound): error when replacing "STDIN": configmaps "none" not found')


@test
def replace_with_an_old_version_conflicts(t):
    old = t.create(config_map("a", {"x": "1"}))
    t.patch("ConfigMap", "a", {"data": {"x": "2"}})
    t.kubectl_fails("replace", "-f", "-", input=old).complains(
        'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled '
        'on configmaps "a": the object has been modified; please apply your changes to the latest '
        "version and try again")


@test
def replace_by_force(t):
    uid = t.create(pod("a"))["metadata"]["uid"]
    t.kubectl("replace", "--force", "-f", "-", input=pod("a", labels={"new": "1"})).prints("""
        pod "a" deleted<<( from .* namespace)?>>
        pod/a replaced
    """)
    made = t.get("Pod", "a")
    assert made["metadata"]["uid"] != uid
    expect(made["metadata"]["labels"], {"new": "1"})


@test
def replace_of_a_custom_resource(t):
    """kubectl fills in the version that a custom resource's update must carry."""
    t.widgets()
    t.create(widget("w", mode="a"))
    t.kubectl("replace", "-f", "-", input=widget("w", mode="b")).prints(
        f"widget.{GROUP}/w replaced")
    thing = {**widget("w", mode="a"), "metadata": {"name": "w", "namespace": t.namespace}}
    t.api.request("PUT", object_path(thing), thing).rejects(
        422, f'widgets.{GROUP} "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be '
        "specified for an update", "Invalid")


@test
def pod_updates_are_restricted(t):
    t.create(pod("a"))
    patch(t, ["pod", "a"], "strategic", {"spec": {"containers": [
        {"name": "app", "image": "example.com/other:2"}]}}).prints("pod/a patched")
    t.kubectl_fails("patch", "pod", "a", "-p", '{"spec":{"nodeName":"n"}}').mentions(
        'The Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than '
        "`spec.containers[*].image`")
    patch(t, ["pod", "a"], "merge", {"spec": {"activeDeadlineSeconds": 100}})
    t.kubectl_fails("patch", "pod", "a", "--type=merge", "-p",
                    '{"spec":{"activeDeadlineSeconds":200}}').mentions(
        "spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous "
        "value")


@test
def label(t):
    t.create(config_map("a"), config_map("b", labels={"x": "1"}))
    t.kubectl("label", "cm", "a", "x=1", "example.com/y=").prints("configmap/a labeled")
    expect(t.get("ConfigMap", "a")["metadata"]["labels"], {"x": "1", "example.com/y": ""})
    t.kubectl_fails("label", "cm", "a", "x=2").complains(
        "error: 'x' already has a value (1), and --overwrite is false")
    t.kubectl("label", "cm", "a", "x=2", "--overwrite").prints("configmap/a labeled")
    t.kubectl("label", "cm", "-l", "x=1", "z=3").prints("configmap/b labeled")
    t.kubectl("label", "cm", "a", "x-").prints("configmap/a <<(un)?>>labeled")
    expect(t.get("ConfigMap", "a")["metadata"]["labels"], {"x": ABSENT, "example.com/y": ""})
    t.kubectl_fails("label", "cm", "a", "x=not ok").mentions(
        "a valid label must be an empty string")


@test
def annotate(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    t.kubectl("annotate", "widget", "w", "example.com/note=hello world").prints(
        f"widget.{GROUP}/w annotated")
    expect(t.get("Widget", "w")["metadata"], {
        "annotations": {"example.com/note": "hello world"}, "generation": 1})
    t.kubectl("annotate", "widget", "w", "example.com/note-").prints(
        f"widget.{GROUP}/w annotated")
    expect(t.get("Widget", "w")["metadata"], {"annotations": ABSENT})


@test
def set_commands(t):
    t.create(deployment("d", replicas=0))
    t.kubectl("set", "image", "deployment/d", "app=example.com/i:2").prints(
        "deployment.apps/d image updated")
    t.kubectl("set", "env", "deployment/d", "A=1").prints("deployment.apps/d env updated")
    t.kubectl("set", "resources", "deployment/d", "--requests=cpu=100m").prints(
        "deployment.apps/d resource requirements updated")
    expect(t.get("Deployment", "d")["spec"]["template"]["spec"]["containers"], [
        {"image": "example.com/i:2", "env": [{"name": "A", "value": "1"}],
         "resources": {"requests": {"cpu": "100m"}}}])
