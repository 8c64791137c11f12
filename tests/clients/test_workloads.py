"""Workloads: kubectl scale, rollout, and what their controllers do."""

from harness.check import expect
from harness.kubelet import OUTCOME, READY
from harness.objects import container, deployment, job, replica_set, workload
from harness.registry import test


def available(t, kind, name, count):
    def check():
        status = t.get(kind, name).get("status", {})
        return status.get("availableReplicas", 0) == count == status.get("replicas", 0)

    t.eventually(check, f"{kind} {name} to have {count} available replicas")


def is_observed(thing):
    return thing["status"]["observedGeneration"] == thing["metadata"]["generation"]


def images(t, label):
    return sorted(p["spec"]["containers"][0]["image"]
                  for p in t.list("Pod", labelSelector=label)
                  if "deletionTimestamp" not in p["metadata"])


@test
def a_deployment_runs(t):
    t.run_pods()
    t.create(deployment("d", replicas=2, run=True))
    t.kubectl("rollout", "status", "deployment/d", "--timeout=300s").contains(
        'deployment "d" successfully rolled out')
    t.kubectl("get", "deployment", "d", "--no-headers").prints("d  2/2  2  2  <<AGE>>")
    t.kubectl("get", "pods", "--no-headers").prints(
        "d-<<HASH>>-<<SUFFIX>>  1/1  Running  0  <<AGE>>\n" * 2)
    owner = t.list("Pod")[0]["metadata"]["ownerReferences"]
    expect(owner, [{"kind": "ReplicaSet", "controller": True, "blockOwnerDeletion": True}])
    expect(t.get("Deployment", "d"), {
        "metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}},
        "status": {"observedGeneration": 1}})


@test
def scale_up_and_down(t):
    t.run_pods()
    t.create(deployment("d", replicas=1, run=True))
    t.kubectl("scale", "deployment", "d", "--replicas=3").prints("deployment.apps/d scaled")
    available(t, "Deployment", "d", 3)
    t.kubectl("scale", "deployment/d", "--current-replicas=3", "--replicas=1").prints(
        "deployment.apps/d scaled")
    available(t, "Deployment", "d", 1)
    t.kubectl_fails("scale", "deployment/d", "--current-replicas=7", "--replicas=2").mentions(
        "Expected replicas to be 7, was 1")
    t.kubectl("scale", "rs", "-l", "app=d", "--replicas=1").contains(
        "replicaset.apps/d-<<HASH>> scaled")


@test
def rollout_to_a_new_image(t):
    t.run_pods()
    t.create(deployment("d", replicas=2, run=True))
    available(t, "Deployment", "d", 2)
    t.kubectl("set", "image", "deployment/d", "app=example.com/i:2")
    t.kubectl("rollout", "status", "deployment/d", "--timeout=300s").contains(
        'deployment "d" successfully rolled out')
    t.eventually(lambda: images(t, "app=d") == ["example.com/i:2"] * 2, "only new pods")
    revisions = sorted(rs["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
                       for rs in t.list("ReplicaSet"))
    assert revisions == ["1", "2"], revisions


@test
def history_and_undo(t):
    t.run_pods()
    t.create(deployment("d", replicas=1, run=True))
    available(t, "Deployment", "d", 1)
    t.kubectl("set", "image", "deployment/d", "app=example.com/i:2")
    t.kubectl("annotate", "deployment/d", "kubernetes.io/change-cause=second")
    t.kubectl("rollout", "status", "deployment/d", "--timeout=300s")
    t.eventually(lambda: t.kubectl("rollout", "history", "deployment/d").prints("""
        deployment.apps/d<< ?>>
        REVISION  CHANGE-CAUSE
        1  <none>
        2  second
    """))
    t.kubectl("rollout", "history", "deployment/d", "--revision=2").contains(
        "Image: <<\\s+>>example.com/i:2")
    t.kubectl("rollout", "undo", "deployment/d").prints("deployment.apps/d rolled back")
    t.kubectl("rollout", "status", "deployment/d", "--timeout=300s")
    t.eventually(lambda: images(t, "app=d") == ["registry.example.com/app:1"], "the first image")
    t.kubectl("rollout", "undo", "deployment/d", "--to-revision=2").prints(
        "deployment.apps/d rolled back")
    t.eventually(lambda: images(t, "app=d") == ["example.com/i:2"], "the second image")


@test
def restart(t):
    t.run_pods()
    t.create(deployment("d", replicas=1, run=True))
    available(t, "Deployment", "d", 1)
    before = {p["metadata"]["name"] for p in t.list("Pod")}
    t.kubectl("rollout", "restart", "deployment/d").prints("deployment.apps/d restarted")
    t.kubectl("rollout", "status", "deployment/d", "--timeout=300s")
    t.eventually(lambda: not before & {p["metadata"]["name"] for p in t.list("Pod")},
                 "the old pod to be gone")


@test
def pause_and_resume(t):
    t.run_pods()
    t.create(deployment("d", replicas=1, run=True))
    available(t, "Deployment", "d", 1)
    t.kubectl("rollout", "pause", "deployment/d").prints("deployment.apps/d paused")
    t.kubectl("set", "image", "deployment/d", "app=example.com/i:2")
    t.eventually(lambda: is_observed(t.get("Deployment", "d")))
    assert images(t, "app=d") == ["registry.example.com/app:1"]
    t.kubectl("rollout", "resume", "deployment/d").prints("deployment.apps/d resumed")
    t.eventually(lambda: images(t, "app=d") == ["example.com/i:2"], "the new image")


@test
def status_waits_for_pods(t):
    """A rollout whose pods do not become ready is not done."""
    t.create(deployment("d", replicas=1))
    rollout = t.start_kubectl("rollout", "status", "deployment/d")
    rollout.wait_for(
        'Waiting for deployment "d" rollout to finish: 0 of 1 updated replicas are available...')
    assert rollout.running()


@test
def recreate_strategy(t):
    """No new pod before the last old one is gone."""
    t.run_pods()
    t.create(deployment("d", replicas=2, run=True, strategy={"type": "Recreate"}))
    available(t, "Deployment", "d", 2)
    held = [p["metadata"]["name"] for p in t.list("Pod")]
    for name in held:
        t.hold("Pod", name)
    t.kubectl("set", "image", "deployment/d", "app=example.com/i:2")
    t.eventually(lambda: all("deletionTimestamp" in p["metadata"] for p in t.list("Pod")))
    assert images(t, "app=d") == []
    for name in held:
        t.release("Pod", name)
    t.eventually(lambda: images(t, "app=d") == ["example.com/i:2"] * 2, "the new pods")


@test
def a_replica_set_replaces_what_is_deleted(t):
    t.run_pods()
    t.create(replica_set("rs", replicas=2, run=True))
    available(t, "ReplicaSet", "rs", 2)
    victim = t.list("Pod")[0]["metadata"]["name"]
    t.kubectl("delete", "pod", victim).contains(f'pod "{victim}" deleted')

    def replaced():
        names = {p["metadata"]["name"] for p in t.list("Pod")}
        return len(names) == 2 and victim not in names

    t.eventually(replaced, "another pod")
    available(t, "ReplicaSet", "rs", 2)


@test
def a_stateful_set_runs_in_order(t):
    t.run_pods()
    t.create(workload("StatefulSet", "s", {"app": "s"}, run=True, replicas=2, serviceName="s"))
    t.kubectl("rollout", "status", "statefulset/s", "--timeout=300s")
    t.kubectl("get", "pods", "--no-headers").prints("""
        s-0  1/1  Running  0  <<AGE>>
        s-1  1/1  Running  0  <<AGE>>
    """)
    t.kubectl("get", "statefulset", "s", "--no-headers").prints("s  2/2  <<AGE>>")
    t.kubectl("scale", "statefulset", "s", "--replicas=1").prints("statefulset.apps/s scaled")
    t.gone("Pod", "s-1")
    assert t.exists("Pod", "s-0")


@test
def a_stateful_set_waits_for_the_first(t):
    t.run_pods()
    t.create(workload("StatefulSet", "s", {"app": "s"}, run=True, replicas=2, serviceName="s",
                      annotations={READY: "false"}))
    t.eventually(lambda: t.exists("Pod", "s-0") and
                 t.get("Pod", "s-0")["status"].get("phase") == "Running")
    t.eventually(lambda: t.get("StatefulSet", "s").get("status", {}).get("replicas") == 1)
    assert not t.exists("Pod", "s-1")


@test
def a_daemon_set_runs_on_matching_nodes(t):
    node = t.run_pods()
    daemon = workload("DaemonSet", "ds", {"app": "ds"}, run=True)
    daemon["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    t.create(daemon)
    t.kubectl("rollout", "status", "daemonset/ds", "--timeout=300s").contains(
        'daemon set "ds" successfully rolled out')
    t.kubectl("get", "daemonset", "ds", "--no-headers").prints(
        f"ds  1  1  1  1  1  kubernetes.io/hostname={node}  <<AGE>>")


@test
def a_job_completes(t):
    t.run_pods()
    t.create(job("j", run=True, annotations={OUTCOME: "Succeeded"}, completions=2, parallelism=1))
    t.kubectl("wait", "job/j", "--for=condition=complete", "--timeout=300s").prints(
        "job.batch/j condition met")
    t.kubectl("get", "job", "j", "--no-headers").prints("j  Complete  2/2  <<AGE>>  <<AGE>>")
    expect(t.get("Job", "j")["status"], {"succeeded": 2})
    names = [p["metadata"]["name"] for p in t.list("Pod", labelSelector="job-name=j")]
    assert len(names) == 2 and all(name.startswith("j-") for name in names), names


@test
def a_job_fails(t):
    t.run_pods()
    t.create(job("j", run=True, annotations={OUTCOME: "Failed"}, backoffLimit=0))
    t.kubectl("wait", "job/j", "--for=condition=failed", "--timeout=300s").prints(
        "job.batch/j condition met")
    conditions = {c["type"]: c for c in t.get("Job", "j")["status"]["conditions"]}
    expect(conditions["Failed"], {"status": "True", "reason": "BackoffLimitExceeded"})


@test
def a_change_of_the_pods_shape_is_a_new_revision(t):
    thing = deployment("d", replicas=0)
    t.create(thing)
    t.eventually(lambda: len(t.list("ReplicaSet")) == 1)
    t.patch("Deployment", "d", {"metadata": {"labels": {"other": "1"}}})
    thing["spec"]["template"]["spec"]["containers"] = [container(image="example.com/i:2")]
    t.patch("Deployment", "d", {"spec": thing["spec"]})
    t.eventually(lambda: len(t.list("ReplicaSet")) == 2, "a second replica set")


@test(running_nodes=True)
def pods_run_on_the_clusters_own_nodes(t):
    nodes = [n["metadata"]["name"] for n in t.api.get("Node")["items"]
             if any(c["type"] == "Ready" and c["status"] == "True"
                    for c in n["status"].get("conditions", []))
             and not n["spec"].get("unschedulable")]
    assert nodes, "no node is ready"
    thing = replica_set("rs", replicas=2)
    thing["spec"]["template"]["spec"] |= {
        "nodeName": nodes[0], "schedulerName": "default-scheduler"}
    t.create(thing)
    available(t, "ReplicaSet", "rs", 2)
    t.kubectl("get", "pods", "-o", "wide", "--no-headers").prints(
        f"rs-<<SUFFIX>>  1/1  Running  0  <<AGE>>  <<[0-9.]+>>  {nodes[0]}  <none>  <none>\n" * 2)
    t.kubectl("delete", "replicaset", "rs")
    t.eventually(lambda: not t.list("Pod"), "the pods to end")
