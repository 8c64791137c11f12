"""kubectl taint, cordon, drain: what an administrator does to a node."""

from harness.check import ABSENT, expect
from harness.objects import budget, node, pod, replica_set, workload
from harness.registry import test

DRAIN_FLAGS = ["--force", "--ignore-daemonsets", "--timeout=300s"]


def own_taints(t, name):
    """Without those that controllers of the cluster put there."""
    return [taint for taint in t.get("Node", name)["spec"].get("taints", [])
            if not taint["key"].startswith("node.kubernetes.io/")]


@test
def taint_and_untaint(t):
    name = t.name("n")
    t.create(node(name))
    t.kubectl("taint", "node", name, "dedicated=batch:NoSchedule", "x:PreferNoSchedule").prints(
        f"node/{name} tainted")
    expect(own_taints(t, name), [
        {"key": "dedicated", "value": "batch", "effect": "NoSchedule"},
        {"key": "x", "effect": "PreferNoSchedule", "value": ABSENT}])
    t.kubectl_fails("taint", "node", name, "dedicated=web:NoSchedule").complains(
        f"error: <<(N|n)>>ode {name} already has dedicated taint(s) with same effect(s) and "
        "--overwrite is false")
    t.kubectl("taint", "node", name, "dedicated=web:NoSchedule", "--overwrite").prints(
        f"node/{name} modified")
    t.kubectl("taint", "node", name, "dedicated-", "x:PreferNoSchedule-").prints(
        f"node/{name} untainted")
    expect(own_taints(t, name), [])


@test
def cordon_and_uncordon(t):
    name = t.ready_node()
    t.kubectl("cordon", name).prints(f"node/{name} cordoned")
    t.kubectl("cordon", name).prints(f"node/{name} already cordoned")
    expect(t.get("Node", name)["spec"], {"unschedulable": True})
    t.kubectl("get", "node", name, "--no-headers").contains(f"{name}  Ready,SchedulingDisabled")
    t.kubectl("get", "nodes", "--field-selector", f"spec.unschedulable=true,metadata.name={name}",
              "-o", "name").prints(f"node/{name}")
    t.kubectl("uncordon", name).prints(f"node/{name} uncordoned")
    expect(t.get("Node", name)["spec"], {"unschedulable": ABSENT})


@test
def cordon_taints_the_node(t):
    name = t.ready_node()
    t.kubectl("cordon", name)
    t.eventually(lambda: any(
        taint["key"] == "node.kubernetes.io/unschedulable" and taint["effect"] == "NoSchedule"
        for taint in t.get("Node", name)["spec"].get("taints", [])), "the unschedulable taint")
    t.kubectl("uncordon", name)
    t.eventually(lambda: not any(
        taint["key"] == "node.kubernetes.io/unschedulable"
        for taint in t.get("Node", name)["spec"].get("taints", [])), "the taint to go")


@test
def drain_evicts_the_pods(t):
    name = t.ready_node()
    t.create(pod("a", run=True, node=name), pod("b", run=True, node=name))
    t.running("a", "b")
    t.kubectl("drain", name, *DRAIN_FLAGS).contains(
        f"node/{name} cordoned", f"evicting pod {t.namespace}/a", "pod/a evicted", "pod/b evicted",
        f"node/{name} <<(evicted|drained)>>")
    assert not t.exists("Pod", "a") and not t.exists("Pod", "b")
    expect(t.get("Node", name)["spec"], {"unschedulable": True})


@test
def drain_asks_before_it_loses_a_pod(t):
    name = t.ready_node()
    t.create(pod("bare", run=True, node=name))
    t.running("bare")
    t.kubectl_fails("drain", name).mentions(
        "cannot delete <<(Pods not managed by|Pods that declare no controller|Pods not managed)>>"
        f"<<.*>>{t.namespace}/bare")
    assert t.exists("Pod", "bare")


@test
def drain_leaves_daemons(t):
    name = t.ready_node()
    daemon = workload("DaemonSet", "ds", {"app": "ds"}, run=True)
    # The daemon set is for this node only: other nodes belong to other tests.
    daemon["spec"]["template"]["spec"] |= {
        "nodeSelector": {"kubernetes.io/hostname": name}, "tolerations": [{"operator": "Exists"}]}
    t.create(daemon)
    daemons = t.eventually(lambda: [
        p["metadata"]["name"] for p in t.list("Pod", labelSelector="app=ds")
        if p["status"].get("phase") == "Running"], "the daemon to run")
    t.kubectl_fails("drain", name).mentions("cannot delete DaemonSet-managed Pods")
    t.kubectl("drain", name, *DRAIN_FLAGS).complains(
        f"<<W(arning|ARNING)>>: ignoring DaemonSet-managed Pods: {t.namespace}/{daemons[0]}")
    assert t.exists("Pod", daemons[0])


@test
def drain_waits_for_the_budget(t):
    """A budget that allows nothing holds the drain; it goes on when the budget allows."""
    name = t.ready_node()
    t.create(budget("b", {"app": "x"}, minAvailable=1),
             pod("a", run=True, node=name, labels={"app": "x"}))
    t.running("a")
    t.eventually(lambda: t.get("PodDisruptionBudget", "b").get("status", {}).get(
        "currentHealthy") == 1, "the budget to count the pod")
    drain = t.start_kubectl("drain", name, *DRAIN_FLAGS)
    drain.wait_for('error when evicting <<(pod|pods/)>><<.*>> (will retry after 5s): Cannot evict '
                   "pod as it would violate the pod's disruption budget.")
    assert t.exists("Pod", "a") and drain.running()
    t.patch("PodDisruptionBudget", "b", {"spec": {"minAvailable": 0}})
    code, printed = drain.wait()
    assert code == 0 and "pod/a evicted" in printed, printed


@test
def drain_moves_replicas(t):
    """What a workload loses on the drained node it gets elsewhere."""
    home = t.run_pods()
    name = t.ready_node()
    t.create(pod("a", run=True, node=name, labels={"app": "rs"}))
    t.running("a")
    t.create(replica_set("rs", replicas=1, run=True))
    t.eventually(lambda: t.get("Pod", "a")["metadata"].get("ownerReferences"), "its adoption")
    t.kubectl("drain", name, "--timeout=300s").contains("pod/a evicted")
    t.eventually(lambda: [p["spec"].get("nodeName") for p in t.list(
        "Pod", labelSelector="app=rs")] == [home], "a replica on another node")
