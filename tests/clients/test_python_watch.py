"""The Python client: watches."""

import threading

import kubernetes
from kubernetes.client.rest import ApiException

from harness.api import kind_path
from harness.check import expect
from harness.objects import config_map, pod
from harness.registry import test
from harness.widgets import GROUP, widget
from test_python import core


def stream(t, count, *arguments, **more):
    """The first `count` events of a watch of config maps, as (type, name)."""
    watch, seen = kubernetes.watch.Watch(), []
    for event in watch.stream(core(t).list_namespaced_config_map, t.namespace, *arguments,
                              timeout_seconds=300, label_selector="w", **more):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == count:
            watch.stop()
    return seen


def watched(name, **more):
    return config_map(name, labels={"w": ""}, **more)


@test(python=True)
def list_then_watch(t):
    """From the version of a list on, every change is seen, in order and once."""
    t.create(watched("a"))
    version = core(t).list_namespaced_config_map(t.namespace).metadata.resource_version
    t.create(watched("b"))
    t.patch("ConfigMap", "a", {"data": {"x": "1"}})
    t.api.delete(t.get("ConfigMap", "b"))
    t.create(watched("c"))
    assert stream(t, 4, resource_version=version) == [
        ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c")]


@test(python=True)
def without_a_version_what_is_there_comes_first(t):
    t.create(watched("a"), watched("b"))
    assert stream(t, 2) == [("ADDED", "a"), ("ADDED", "b")]
    assert stream(t, 2, resource_version="0") == [("ADDED", "a"), ("ADDED", "b")]


@test(python=True)
def resumes_where_it_stopped(t):
    t.create(watched("a"))
    watch = kubernetes.watch.Watch()
    for event in watch.stream(core(t).list_namespaced_config_map, t.namespace, timeout_seconds=300,
                              label_selector="w"):
        version = event["object"].metadata.resource_version
        watch.stop()
    t.create(watched("b"), watched("c"))
    assert stream(t, 2, resource_version=version) == [("ADDED", "b"), ("ADDED", "c")]


@test(python=True)
def ends_at_its_time(t):
    assert list(kubernetes.watch.Watch().stream(
        core(t).list_namespaced_pod, t.namespace, timeout_seconds=1)) == []


@test(python=True)
def sees_changes_as_they_happen(t):
    seen, changed = [], threading.Condition()

    def follow():
        for event in kubernetes.watch.Watch().stream(
                core(t).list_namespaced_pod, t.namespace, timeout_seconds=300):
            with changed:
                seen.append((event["type"], event["object"].status.phase))
                changed.notify()
            if event["type"] == "DELETED":
                return

    def wait_for(event):
        with changed:
            assert changed.wait_for(lambda: event in seen, 300), seen

    thread = threading.Thread(target=follow)
    thread.start()
    t.create(pod("p"))
    wait_for(("ADDED", "Pending"))
    t.set_status("Pod", "p", {"phase": "Failed"})
    wait_for(("MODIFIED", "Failed"))
    t.api.delete(t.get("Pod", "p"))
    wait_for(("DELETED", "Failed"))
    thread.join()


@test(python=True)
def objects_enter_and_leave_a_selection(t):
    version = core(t).list_namespaced_config_map(t.namespace).metadata.resource_version
    t.create(config_map("a"))
    t.patch("ConfigMap", "a", {"metadata": {"labels": {"w": ""}}})
    t.patch("ConfigMap", "a", {"data": {"x": "1"}})
    t.patch("ConfigMap", "a", {"metadata": {"labels": {"w": None}}})
    assert stream(t, 3, resource_version=version) == [
        ("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


@test(python=True)
def versions_only_grow(t):
    version = core(t).list_namespaced_config_map(t.namespace).metadata.resource_version
    t.create(watched("a"), watched("b"))
    t.api.delete(t.get("ConfigMap", "a"))
    watch, versions = kubernetes.watch.Watch(), [int(version)]
    for event in watch.stream(core(t).list_namespaced_config_map, t.namespace, timeout_seconds=300,
                              label_selector="w", resource_version=version):
        versions.append(int(event["object"].metadata.resource_version))
        if event["type"] == "DELETED":
            watch.stop()
    assert versions == sorted(set(versions)) and len(versions) == 4, versions


@test(python=True)
def a_version_that_is_no_longer_known(t):
    """Kubernetes has mostly forgotten its first versions (not if its cache was filled before
    anything was written); the local cluster, which remembers long, answers the same to a version
    that it never gave out."""
    version = "1"
    if t.cluster == "koord":
        listed = core(t).list_namespaced_config_map(t.namespace)
        version = str(int(listed.metadata.resource_version) + 1000000)
    try:
        events = list(kubernetes.watch.Watch().stream(
            core(t).list_namespaced_config_map, t.namespace, resource_version=version,
            timeout_seconds=5))
        assert t.cluster != "koord", f"expected 410, got events: {events}"
    except ApiException as error:
        assert error.status == 410 and error.reason.startswith("Expired: "), error


@test(python=True)
def custom_objects(t):
    t.widgets()
    api = kubernetes.client.CustomObjectsApi(t.python)
    t.create(widget("a", mode="a"))
    watch, seen = kubernetes.watch.Watch(), []
    for event in watch.stream(api.list_namespaced_custom_object, GROUP, "v1", t.namespace,
                              "widgets", timeout_seconds=300):
        seen.append((event["type"], event["object"]["metadata"]["name"]))
        if len(seen) == 1:
            t.patch("Widget", "a", {"spec": {"mode": "b"}})
        else:
            watch.stop()
    assert seen == [("ADDED", "a"), ("MODIFIED", "a")], seen


@test(python=True)
def bookmarks_close_the_initial_state(t):
    """What newer informers rely on: the objects first, then a mark, then changes."""
    t.create(watched("a"), watched("b"))
    events = t.api.watch(kind_path("ConfigMap", t.namespace), {
        "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true", "labelSelector": "w"}, timeout=300)
    first = [next(events) for _ in range(3)]
    assert [e["type"] for e in first] == ["ADDED", "ADDED", "BOOKMARK"], first
    expect(first[2]["object"], {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {
        "annotations": {"k8s.io/initial-events-end": "true"},
        "resourceVersion": lambda version: version.isdigit()}})
    t.create(watched("c"))
    event = next(events)
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "c"), event
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(
        first[2]["object"]["metadata"]["resourceVersion"])
    events.close()
