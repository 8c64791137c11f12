"""kubectl delete: who goes with whom, and when."""

from harness.api import kind_path, object_path
from harness.check import ABSENT, expect
from harness.objects import config_map, deployment, pod, replica_set
from harness.registry import test
from harness.widgets import GROUP, widget


def deleted(kind, name):
    """What kubectl prints; newer ones tell the namespace, too."""
    return f'{kind} "{name}" deleted<<( from .* namespace)?>>'


def running_replicas(t, count=2):
    t.run_pods()
    t.create(replica_set("rs", replicas=count, run=True))
    return t.eventually(lambda: [
        p["metadata"]["name"] for p in t.list("Pod")
        if p["status"].get("phase") == "Running"][count - 1:] and [
            p["metadata"]["name"] for p in t.list("Pod")], "the replicas to run")


@test
def by_name_type_and_file(t):
    t.create(*(config_map(name) for name in "abc"), pod("p"))
    t.kubectl("delete", "configmap", "a").prints(deleted("configmap", "a"))
    t.kubectl("delete", "cm/b", "pod/p").contains(deleted("configmap", "b"), deleted("pod", "p"))
    t.kubectl("delete", "-f", "-", input=config_map("c")).prints(deleted("configmap", "c"))
    t.kubectl_fails("delete", "configmap", "a").complains(
        'Error from server (NotFound): configmaps "a" not found')
    t.kubectl("delete", "configmap", "a", "--ignore-not-found").prints("")


@test
def by_label_and_all(t):
    t.create(config_map("a", labels={"x": "1"}), config_map("b", labels={"x": "1"}),
             config_map("c"), pod("p"), pod("q"))
    t.kubectl("delete", "configmap", "-l", "x=1").contains(
        deleted("configmap", "a"), deleted("configmap", "b"))
    assert t.exists("ConfigMap", "c")
    t.kubectl("delete", "pods", "--all").contains(deleted("pod", "p"), deleted("pod", "q"))
    expect(t.list("Pod"), [])
    t.kubectl("delete", "pods", "--all").prints("No resources found")


@test
def dry_run_by_the_server(t):
    t.create(config_map("a"))
    t.kubectl("delete", "configmap", "a", "--dry-run=server").prints(
        'configmap "a" deleted<<.*>> (server dry run)')
    assert t.exists("ConfigMap", "a")


@test
def a_bound_pod_ends_in_its_own_time(t):
    """A pod on a node stays until its kubelet is done with it, or until nobody waits for that."""
    t.create(pod("p", terminationGracePeriodSeconds=300))
    t.api.request("POST", kind_path("Pod", t.namespace, "p", "binding"), {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
        "target": {"kind": "Node", "name": t.run_pods()}}).has_status(201)
    t.kubectl("delete", "pod", "p", "--wait=false").prints(deleted("pod", "p"))
    expect(t.get("Pod", "p")["metadata"], {
        "deletionGracePeriodSeconds": 300, "deletionTimestamp": lambda value: bool(value)})
    t.kubectl("delete", "pod", "p", "--grace-period=60", "--wait=false")
    expect(t.get("Pod", "p")["metadata"], {"deletionGracePeriodSeconds": 60})
    t.kubectl("delete", "pod", "p", "--grace-period=0", "--force").prints(
        'pod "p" force deleted<<.*>>').mentions(
            "<<(W|w)>>arning: Immediate deletion does not wait for confirmation that the running "
            "resource has been terminated. The resource may continue to run on the cluster "
            "indefinitely.")
    assert not t.exists("Pod", "p")


@test
def an_unbound_pod_goes_at_once(t):
    t.create(pod("p", terminationGracePeriodSeconds=300))
    t.kubectl("delete", "pod", "p").prints(deleted("pod", "p"))
    assert not t.exists("Pod", "p")


@test
def waits_for_finalizers(t):
    t.create(config_map("a"))
    t.hold("ConfigMap", "a")
    delete = t.start_kubectl("delete", "configmap", "a")
    t.eventually(lambda: "deletionTimestamp" in t.get("ConfigMap", "a")["metadata"])
    delete.wait_for('configmap "a" deleted')
    assert delete.running()
    t.release("ConfigMap", "a")
    code, printed = delete.wait()
    assert code == 0, printed
    assert not t.exists("ConfigMap", "a")


@test
def gives_up_waiting(t):
    t.create(config_map("a"))
    t.hold("ConfigMap", "a")
    t.kubectl_fails("delete", "configmap", "a", "--timeout=1s").mentions(
        "error: timed out waiting for the condition")


@test
def a_dying_object_takes_no_new_finalizers(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    t.hold("Widget", "w")
    t.kubectl("delete", "widget", "w", "--wait=false").prints(
        deleted(f"widget.{GROUP}", "w"))
    expect(t.get("Widget", "w")["metadata"], {
        "generation": 2, "deletionGracePeriodSeconds": 0, "finalizers": ["example.com/hold"]})
    t.kubectl_fails("patch", "widget", "w", "--type=json", "-p",
                    '[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/more"}]'
                    ).mentions(
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
        'deleted, found new finalizers []string{"example.com/more"}')
    t.kubectl_fails("create", "-f", "-", input=widget("w", mode="b")).mentions(
        f'object is being deleted: widgets.{GROUP} "w" already exists')
    t.patch("Widget", "w", {"metadata": {"finalizers": []}})
    t.gone("Widget", "w")


@test
def in_the_background_dependents_follow(t):
    running_replicas(t)
    t.kubectl("delete", "replicaset", "rs")
    t.eventually(lambda: not t.list("Pod"), "the pods to follow their replica set")


@test
def orphans_stay(t):
    names = running_replicas(t)
    # 1.20 has another default for the same flag but knows the value.
    t.kubectl("delete", "replicaset", "rs", "--cascade=orphan")
    assert not t.exists("ReplicaSet", "rs")
    for name in names:
        expect(t.get("Pod", name)["metadata"], {
            "ownerReferences": ABSENT, "deletionTimestamp": ABSENT})


@test
def in_the_foreground_dependents_go_first(t):
    names = running_replicas(t, 1)
    t.hold("Pod", names[0])
    t.kubectl("delete", "replicaset", "rs", "--cascade=foreground", "--wait=false")
    t.eventually(lambda: "deletionTimestamp" in t.get("Pod", names[0])["metadata"])
    expect(t.get("ReplicaSet", "rs")["metadata"], {"finalizers": ["foregroundDeletion"]})
    t.release("Pod", names[0])
    t.gone("ReplicaSet", "rs")
    assert not t.exists("Pod", names[0])


@test
def a_whole_tree_follows(t):
    t.run_pods()
    t.create(deployment("d", replicas=1, run=True))
    t.eventually(lambda: t.list("Pod"), "a pod")
    t.kubectl("delete", "deployment", "d").prints(deleted("deployment.apps", "d"))
    t.eventually(lambda: not t.list("ReplicaSet") and not t.list("Pod"), "all to be gone")


@test
def custom_owners_count_too(t):
    t.widgets()
    owner = t.create(widget("w", mode="a"))
    reference = {"apiVersion": owner["apiVersion"], "kind": "Widget", "name": "w",
                 "uid": owner["metadata"]["uid"]}
    t.create(config_map("mine", ownerReferences=[reference]))
    t.create(config_map("stranger", ownerReferences=[
        {**reference, "uid": "00000000-0000-0000-0000-000000000000"}]))
    t.gone("ConfigMap", "stranger")  # its owner does not exist, whatever the name
    assert t.exists("ConfigMap", "mine")
    t.kubectl("delete", "widget", "w")
    t.gone("ConfigMap", "mine")


@test
def preconditions(t):
    made = t.create(config_map("a"))
    wrong = "00000000-0000-0000-0000-000000000000"
    t.api.request("DELETE", object_path(made), {"preconditions": {"uid": wrong}}).rejects(
        409, f'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition '
        f'({wrong}) does not match the UID in record ({made["metadata"]["uid"]}). The object '
        "might have been deleted and then recreated", "Conflict")
    answer = t.api.request("DELETE", object_path(made), {
        "preconditions": {"uid": made["metadata"]["uid"]}}).has_status(200).json()
    expect(answer, {"kind": "Status", "status": "Success", "details": {
        "name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]}})


@test
def raw_delete(t):
    made = t.create(config_map("a"))
    t.kubectl("delete", "--raw", object_path(made)).contains('"status":"Success"')
    assert not t.exists("ConfigMap", "a")


@test
def a_collection(t):
    t.create(*(config_map(name, labels={"x": "1"}) for name in "abc"), config_map("d"))
    answer = t.api.request("DELETE", kind_path("ConfigMap", t.namespace),
                           query={"labelSelector": "x=1"}).has_status(200).json()
    expect(answer, {"kind": "ConfigMapList", "items": [
        {"metadata": {"name": name}} for name in "abc"]})
    assert t.exists("ConfigMap", "d") and not t.exists("ConfigMap", "a")
