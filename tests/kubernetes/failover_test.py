#!/usr/bin/env python3
"""Programs that are killed, and an API server that goes away: nothing is lost or done twice.

    tests/kubernetes/failover_test.py build/bin [TEST...]
"""

import collections
import contextlib
import http.client
import json
import pathlib
import sys
import time

from bench import BoundPods, Server, pod
from cluster import Cluster, ClusterError, exit_on_sigterm
from image import BUSYBOX
from machine import why_impossible
from node import Node
from programs import NAMESPACE, Koordlet, Manager, Scheduler, deploy
from report import Report, title

PODS = 5000
PODS_A_NODE = 10  # all nodes together have room for just these pods
NEW_LEADER_S = 20  # at the default settings of leases
API_DOWN_S = 60
DEADLINE_S = 900
TAINTLESS = {"kube-apiserver": ["--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"]}
RESERVATIONS = 1000
RESERVATIONS_PATH = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
PODS_PATH = "/api/v1/namespaces/default/pods"
AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
ALLOCATED = "scheduling.koordinator.sh/reservation-allocated"
METRICS = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
BATCH_CPU = "kubernetes.io/batch-cpu"
LIFTED = ["--kube-api-qps=200", "--kube-api-burst=200"]


class Supervised(contextlib.ExitStack):
    """Programs that are started again when they end, as the kubelet would."""

    def __init__(self, *programs):
        super().__init__()
        self.programs = programs
        for program in programs:
            self.enter_context(program)

    def revive(self):
        for program in self.programs:
            if program.process.poll() is not None:
                program.start()

    def wait(self, what, condition, deadline_s=DEADLINE_S):
        """Waits until `condition()`; how long it took."""
        start = time.monotonic()
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if condition():
                    return time.monotonic() - start
            if time.monotonic() > start + deadline_s:
                ends = "\n".join(f"--- {p.name}\n{p.end()}" for p in self.programs)
                raise ClusterError(f"not within {deadline_s} s: {what}\n{ends}")
            self.revive()
            time.sleep(0.05)


def leads(program):
    try:
        return program.leads()
    except OSError:
        return False


def check_each_bound_once(cluster, bound_by_audit):
    """No node has more than fits, and no pod was bound twice or to two nodes."""
    pods = json.loads(cluster.kubectl("get", "pods", "-o", "json").stdout)["items"]
    on_node = collections.Counter(p["spec"].get("nodeName") for p in pods)
    if on_node.pop(None, 0) or len(pods) != PODS:
        raise ClusterError(f"{len(pods)} pods, and not all are bound")
    if crowded := {n: c for n, c in on_node.items() if c > PODS_A_NODE}:
        raise ClusterError(f"more pods than fit: {crowded}")
    # Of bindings whose caller was killed, the log does not tell that they succeeded.
    twice = [name for name, count in bound_by_audit.items() if count > 1]
    if twice:
        raise ClusterError(f"bound twice: {twice[:10]}")


def successful_bindings(cluster):
    return collections.Counter(
        event["objectRef"]["name"] for event in cluster.writes("koord-scheduler")
        if event["objectRef"].get("subresource") == "binding" and
        event["responseStatus"].get("code") == 201)


@contextlib.contextmanager
def scheduling(binaries):
    """A cluster in which two schedulers are placing pods."""
    with Cluster(arguments=TAINTLESS, audit=True) as cluster:
        deploy(cluster)
        server = Server(binaries, cluster.kubeconfig, cluster.directory)
        server.create_nodes(PODS // PODS_A_NODE, cpu=str(PODS_A_NODE))
        server.load("POST", "/api/v1/namespaces/default/pods", pod("koord-scheduler", cpu="1"),
                    count=PODS)
        schedulers = [Scheduler(binaries / "koord-scheduler", cluster, name=f"koord-scheduler-{i}",
                                more=LIFTED) for i in "ab"]
        bound = BoundPods(cluster, "default", PODS)
        with Supervised(*schedulers) as supervised:
            supervised.wait("the first pods", lambda: len(bound) > PODS // 10)
            if len(bound) > PODS * 9 // 10:
                raise ClusterError("the pods were placed before anything could be tried")
            yield cluster, supervised, bound
        bound.stop()


def finish(cluster, supervised, bound):
    supervised.wait("all pods are bound", bound.done.is_set)
    check_each_bound_once(cluster, successful_bindings(cluster))


def leader_is_killed(binaries):
    with scheduling(binaries) as (cluster, supervised, bound):
        leader = next(filter(leads, supervised.programs))
        other = next(p for p in supervised.programs if p is not leader)
        leader.kill()
        took = supervised.wait("a new leader", lambda: leads(other) or leads(leader))
        if took > NEW_LEADER_S:
            raise ClusterError(f"the new leader took {took:.1f} s")
        finish(cluster, supervised, bound)
        return f"new leader after {took:.1f} s"


def api_server_restarts(binaries):
    with scheduling(binaries) as (cluster, supervised, bound):
        cluster.kill("kube-apiserver")
        cluster.restart("kube-apiserver")
        cluster.wait("the API server", cluster.is_ready)
        took = supervised.wait("a leader", lambda: any(map(leads, supervised.programs)))
        if took > NEW_LEADER_S:
            raise ClusterError(f"the leader took {took:.1f} s")
        finish(cluster, supervised, bound)
        return f"a leader {took:.1f} s after its return"


def reservation():
    """Room for one pod, to be used once."""
    like = pod("koord-scheduler", cpu="1")
    return {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation",
            "metadata": {"name": "room-{i}"},
            "spec": {"template": {"spec": like["spec"]}, "allocateOnce": True, "ttl": "1h",
                     "owners": [{"labelSelector": {"matchLabels": like["metadata"]["labels"]}}]}}


def check_each_used_once(cluster):
    """Each pod has a reservation of its own, on its node, which says so and holds nothing more."""
    reservations = {item["metadata"]["uid"]: item for item in
                    cluster.read(RESERVATIONS_PATH)["items"]}
    if len(reservations) != RESERVATIONS:
        raise ClusterError(f"{len(reservations)} reservations are left")
    users = collections.defaultdict(list)
    for item in cluster.read(PODS_PATH)["items"]:
        drawn = json.loads(item["metadata"]["annotations"].get(ALLOCATED, "{}"))
        users[drawn.get("uid")].append(item)
    if wrong := {uid: len(pods) for uid, pods in users.items()
                 if len(pods) != 1 or uid not in reservations}:
        raise ClusterError(f"not used once: {wrong}")
    for uid, (user,) in users.items():
        status = reservations[uid]["status"]
        owners = [owner["uid"] for owner in status.get("currentOwners", [])]
        if status["nodeName"] != user["spec"]["nodeName"] or owners != [user["metadata"]["uid"]]:
            raise ClusterError(f"{user['metadata']['name']} on {user['spec']['nodeName']} uses "
                               f"{reservations[uid]['metadata']['name']}: {status}")


def have_all_succeeded(cluster):
    return all(item.get("status", {}).get("phase") == "Succeeded"
               for item in cluster.read(RESERVATIONS_PATH)["items"])


def leader_is_killed_with_reservations(binaries):
    """All nodes together have room for just these reservations, and those for just these pods."""
    with contextlib.ExitStack() as running:
        cluster = running.enter_context(Cluster(arguments=TAINTLESS, audit=True))
        deploy(cluster)
        server = Server(binaries, cluster.kubeconfig, cluster.directory)
        server.create_nodes(RESERVATIONS // PODS_A_NODE, cpu=str(PODS_A_NODE))
        server.load("POST", RESERVATIONS_PATH, reservation(), count=RESERVATIONS)
        owner = pod("koord-scheduler", cpu="1")
        owner["metadata"]["annotations"] = {AFFINITY: "{}"}
        server.load("POST", PODS_PATH, owner, count=RESERVATIONS)
        bound = BoundPods(cluster, "default", RESERVATIONS)
        running.callback(bound.stop)
        supervised = running.enter_context(Supervised(*(
            Scheduler(binaries / "koord-scheduler", cluster, name=f"koord-scheduler-{i}",
                      more=LIFTED) for i in "ab")))
        supervised.wait("the first pods", lambda: len(bound) > RESERVATIONS // 10)
        if len(bound) > RESERVATIONS * 9 // 10:
            raise ClusterError("the pods were placed before anything could be tried")
        leader = next(filter(leads, supervised.programs))
        leader.kill()
        took = supervised.wait("a new leader", lambda: any(map(leads, supervised.programs)))
        supervised.wait("all pods are bound", bound.done.is_set)
        twice = [name for name, count in successful_bindings(cluster).items() if count > 1]
        if twice:
            raise ClusterError(f"bound twice: {twice[:10]}")
        supervised.wait("all reservations are used", lambda: have_all_succeeded(cluster))
        check_each_used_once(cluster)
        check_nothing_is_held(cluster, server, supervised)
        return f"new leader after {took:.1f} s"


def check_nothing_is_held(cluster, server, supervised):
    """When the pods are gone, as many others fit."""
    server.remove_pods("default", RESERVATIONS)
    server.create_namespace("others")
    server.create_pods("others", RESERVATIONS, scheduler="koord-scheduler", cpu="1")
    bound = BoundPods(cluster, "others", RESERVATIONS)
    supervised.wait("others have the room", bound.done.is_set)


@contextlib.contextmanager
def colocation(binaries):
    """A real node with koordlet, and koord-manager, that have told each other all there is."""
    with contextlib.ExitStack() as running:
        cluster = running.enter_context(Cluster(controller_manager=True, audit=True, arguments={
            "kube-controller-manager": ["--node-monitor-grace-period=1h"]}))
        node = running.enter_context(Node(cluster))
        deploy(cluster, webhooks=True)
        configure(cluster)
        # In a namespace that the webhooks leave out.
        cluster.kubectl("run", "resident", "-n", NAMESPACE, f"--image={BUSYBOX}",
                        "--image-pull-policy=Never",
                        f'--overrides={{"spec": {{"nodeName": "{node.name}"}}}}')
        cluster.kubectl("wait", "-n", NAMESPACE, "--for=condition=Ready", "pod/resident",
                        "--timeout=180s")
        manager = Manager(binaries / "koord-manager", cluster)
        koordlet = Koordlet(binaries / "koordlet", node)
        supervised = running.enter_context(Supervised(manager, koordlet))
        supervised.wait("a report", lambda: report_time(cluster, node))
        supervised.wait("batch resources", lambda: BATCH_CPU in cluster.read(
            f"/api/v1/nodes/{node.name}")["status"]["allocatable"])
        yield cluster, node, manager, koordlet, supervised


def configure(cluster):
    data = {"colocation-config": {"enable": True, "metricReportIntervalSeconds": 30},
            "resource-threshold-config": {"clusterStrategy": {"enable": True}}}
    cluster.kubectl("apply", "-f", "-", input=json.dumps({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "slo-controller-config", "namespace": NAMESPACE},
        "data": {key: json.dumps(value) for key, value in data.items()}}))


def report_time(cluster, node):
    return cluster.read(f"{METRICS}/{node.name}").get("status", {}).get("updateTime")


def uids(cluster):
    """The objects that the programs have made."""
    kinds = "nodemetrics,nodeslos,noderesourcetopologies"
    return cluster.kubectl("get", kinds, "-o", "jsonpath={.items[*].metadata.uid}").stdout


def check_nothing_twice(cluster):
    """No object was made twice, nor the same written to it twice in a row."""
    last = {}
    for account in ("koord-manager", "koordlet"):
        for event in cluster.writes(account):
            reference = event["objectRef"]
            if event["responseStatus"].get("code", 0) >= 300 or reference["resource"] == "events":
                continue
            what = (account, reference["resource"], reference.get("name"),
                    reference.get("subresource"))
            body = json.dumps(event.get("requestObject"), sort_keys=True)
            if last.get(what) == body:
                raise ClusterError(f"written twice: {what} {body}")
            last[what] = body


def agents_are_killed(binaries):
    with colocation(binaries) as (cluster, node, manager, koordlet, supervised):
        made, reported = uids(cluster), report_time(cluster, node)
        manager.kill()
        koordlet.kill()
        supervised.revive()
        took = supervised.wait("the manager leads", lambda: leads(manager))
        if took > NEW_LEADER_S:
            raise ClusterError(f"the manager took {took:.1f} s")
        supervised.wait("another report",
                        lambda: report_time(cluster, node) not in (None, reported))
        if uids(cluster) != made:
            raise ClusterError("objects were made anew")
        check_nothing_twice(cluster)
        return f"the manager leads after {took:.1f} s"


def api_server_is_away(binaries):
    with colocation(binaries) as (cluster, node, manager, koordlet, supervised):
        made, reported, pid = uids(cluster), report_time(cluster, node), koordlet.process.pid
        cluster.kill("kube-apiserver")
        back = time.monotonic() + API_DOWN_S
        supervised.wait("the minute has passed", lambda: time.monotonic() > back)
        if not koordlet.acts():
            raise ClusterError("koordlet does not act without an API server")
        cluster.restart("kube-apiserver")
        cluster.wait("the API server", cluster.is_ready)
        took = supervised.wait("the manager leads", lambda: leads(manager))
        if took > NEW_LEADER_S:
            raise ClusterError(f"the manager took {took:.1f} s")
        supervised.wait("another report",
                        lambda: report_time(cluster, node) not in (None, reported))
        if koordlet.process.pid != pid:
            raise ClusterError("koordlet has ended meanwhile")
        if uids(cluster) != made:
            raise ClusterError("objects were made anew")
        check_nothing_twice(cluster)
        return f"the manager leads {took:.1f} s after its return"


TESTS = [leader_is_killed, leader_is_killed_with_reservations, api_server_restarts,
         agents_are_killed, api_server_is_away]


def main(binaries, *names):
    report = Report()
    for test in TESTS:
        if names and test.__name__ not in names:
            continue
        if test in (agents_are_killed, api_server_is_away) and (why := why_impossible()):
            report.skip(title(test), why)
            continue
        report.run(test, pathlib.Path(binaries).absolute())
    return report.end()


if __name__ == "__main__":
    exit_on_sigterm()
    try:
        sys.exit(main(*sys.argv[1:]))
    except ClusterError as error:
        sys.exit(f"failover_test.py: {error}")
