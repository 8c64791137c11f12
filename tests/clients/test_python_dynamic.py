"""The Python client: custom objects and the dynamic client."""

import json

import kubernetes
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError, ResourceNotFoundError

from harness.check import ABSENT, expect
from harness.objects import config_map
from harness.registry import test
from harness.widgets import GROUP, widget
from test_python import fails


def custom(t):
    return kubernetes.client.CustomObjectsApi(t.python)


def dynamic(t):
    # Without a file of its own it would find what it knew of another cluster at the same address.
    return kubernetes.dynamic.DynamicClient(t.python, cache_file=str(t.file("discovery", "{}")))


@test(python=True)
def custom_objects(t):
    t.widgets()
    place = (GROUP, "v1", t.namespace, "widgets")
    api = custom(t)
    made = api.create_namespaced_custom_object(*place, widget("w", mode="a"))
    expect(made["spec"], {"mode": "a", "replicas": 1})
    listed = api.list_namespaced_custom_object(*place)
    expect(listed, {"kind": "WidgetList", "apiVersion": f"{GROUP}/v1", "items": [
        {"kind": "Widget", "apiVersion": f"{GROUP}/v1", "metadata": {"name": "w"}}]})
    made["spec"]["mode"] = "b"
    replaced = api.replace_namespaced_custom_object(*place, "w", made)
    assert replaced["metadata"]["generation"] == 2, replaced
    fails(409, api.replace_namespaced_custom_object, *place, "w", made)
    api.patch_namespaced_custom_object_status(*place, "w", {"status": {"phase": "Ready"}})
    expect(api.get_namespaced_custom_object_status(*place, "w"), {
        "status": {"phase": "Ready"}, "spec": {"mode": "b"}})
    fails(422, api.patch_namespaced_custom_object, *place, "w", {"spec": {"mode": "z"}})
    api.delete_namespaced_custom_object(*place, "w")
    fails(404, api.get_namespaced_custom_object, *place, "w")


@test(python=True)
def custom_objects_of_an_unknown_kind(t):
    fails(404, custom(t).list_cluster_custom_object, "none.example.com", "v1", "nothings")


@test(python=True)
def scale_of_a_custom_object(t):
    t.widgets()
    place = (GROUP, "v1", t.namespace, "widgets")
    t.create(widget("w", replicas=2))
    custom(t).patch_namespaced_custom_object_scale(*place, "w", {"spec": {"replicas": 4}})
    expect(custom(t).get_namespaced_custom_object_scale(*place, "w"), {
        "kind": "Scale", "spec": {"replicas": 4}})
    expect(t.get("Widget", "w")["spec"], {"replicas": 4})


@test(python=True)
def dynamic_writes(t):
    maps = dynamic(t).resources.get(api_version="v1", kind="ConfigMap")
    maps.create(body=config_map("a", {"x": "1"}), namespace=t.namespace)
    maps.patch(body={"data": {"y": "2"}}, name="a", namespace=t.namespace,
               content_type="application/merge-patch+json")
    expect(maps.get(name="a", namespace=t.namespace).to_dict()["data"], {"x": "1", "y": "2"})
    assert [m.metadata.name for m in maps.get(
        namespace=t.namespace, field_selector="metadata.name=a").items] == ["a"]
    maps.delete(name="a", namespace=t.namespace)
    try:
        maps.get(name="a", namespace=t.namespace)
        raise AssertionError("it is still there")
    except NotFoundError as error:
        assert error.status == 404, error


@test(python=True)
def dynamic_apply(t):
    maps = dynamic(t).resources.get(api_version="v1", kind="ConfigMap")

    def apply(manager, data, **more):
        return maps.server_side_apply(
            body=json.dumps(config_map("a", data)), name="a", namespace=t.namespace,
            field_manager=manager, **more)

    apply("one", {"x": "1", "y": "1"})
    apply("one", {"x": "2"})
    expect(t.get("ConfigMap", "a")["data"], {"x": "2", "y": ABSENT})
    try:
        apply("two", {"x": "3"})
        raise AssertionError("expected a conflict")
    except ConflictError as error:
        assert b'conflict with \\"one\\": .data.x' in error.body, error.body
    apply("two", {"x": "3"}, force_conflicts=True)
    expect(t.get("ConfigMap", "a")["data"], {"x": "3"})


@test(python=True)
def dynamic_finds_custom_kinds(t):
    t.widgets()
    client = dynamic(t)
    widgets = client.resources.get(api_version=f"{GROUP}/v1", kind="Widget")
    assert widgets.namespaced and widgets.name == "widgets", widgets
    widgets.create(body=widget("w", mode="a"), namespace=t.namespace)
    widgets.status.patch(body={"status": {"phase": "Ready"}}, name="w", namespace=t.namespace,
                         content_type="application/merge-patch+json")
    assert widgets.get(name="w", namespace=t.namespace).status.phase == "Ready"
    try:
        client.resources.get(api_version="v1", kind="Nonsense")
        raise AssertionError("there is no such kind")
    except ResourceNotFoundError:
        pass


@test(python=True)
def dynamic_watch(t):
    maps = dynamic(t).resources.get(api_version="v1", kind="ConfigMap")
    t.create(config_map("a", labels={"w": ""}))
    seen = []
    for event in maps.watch(namespace=t.namespace, label_selector="w", timeout=300):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 1:
            t.api.delete(t.get("ConfigMap", "a"))
        else:
            break
    assert seen == [("ADDED", "a"), ("DELETED", "a")], seen
