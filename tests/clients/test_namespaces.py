"""The life of a namespace."""

from harness.api import MERGE_PATCH, object_path
from harness.check import expect
from harness.objects import config_map, pod
from harness.registry import test
from harness.widgets import widget


def new_namespace(t, suffix="n"):
    name = t.name(suffix)
    t.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


@test
def goes_with_all_it_holds(t):
    t.widgets()
    name = new_namespace(t)
    t.kubectl("create", "-n", name, "-f", "-", input=config_map("a"))
    t.kubectl("create", "-n", name, "-f", "-", input=widget("w", mode="a"))
    t.kubectl("delete", "namespace", name).prints(f'namespace "{name}" deleted')
    t.kubectl_fails("get", "namespace", name).complains(
        f'Error from server (NotFound): namespaces "{name}" not found')
    t.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    t.kubectl("get", "widgets", "-n", name, "-o", "name").prints("")


@test
def takes_nothing_new_while_it_goes(t):
    name = new_namespace(t)
    held = t.api.create(config_map("held", namespace=name, finalizers=["example.com/hold"]))
    let_go = {"metadata": {"finalizers": None}}
    t.cleanup(t.api.request, "PATCH", object_path(held), let_go, MERGE_PATCH)
    t.kubectl("delete", "namespace", name, "--wait=false")
    t.eventually(lambda: t.api.get("ConfigMap", "held", name)["metadata"].get("deletionTimestamp"))
    t.kubectl("get", "namespace", name).prints(f"NAME  STATUS  AGE\n{name}  Terminating  <<AGE>>")
    t.kubectl_fails("create", "-n", name, "-f", "-", input=config_map("new")).complains(
        'Error from server (Forbidden): error when creating "STDIN": configmaps "new" is '
        f"forbidden: unable to create new content in namespace {name} because it is being "
        "terminated")
    t.api.patch(held, let_go)
    t.gone("Namespace", name)


@test
def has_an_account_and_a_label(t):
    name = new_namespace(t)
    t.eventually(lambda: t.api.exists("ServiceAccount", "default", name))
    expect(t.api.get("Namespace", name), {
        "metadata": {"labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})


@test
def some_may_not_be_deleted(t):
    for name in ("default", "kube-system"):
        t.kubectl_fails("delete", "namespace", name).mentions(
            f'Error from server (Forbidden): namespaces "{name}" is forbidden: this namespace may '
            "not be deleted")


@test
def those_that_every_cluster_has(t):
    t.kubectl("get", "namespace", "default", "kube-system", "kube-public", "kube-node-lease", "-o",
              "jsonpath={.items[*].status.phase}").prints("Active Active Active Active")


@test
def the_context_can_name_one(t):
    t.create(pod("p"))
    t.kubectl("get", "pods", "-n", t.namespace, "-o", "name").prints("pod/p")
    t.kubectl("get", "namespaces", "-l", f"kubernetes.io/metadata.name={t.namespace}", "-o",
              "name").prints(f"namespace/{t.namespace}")
