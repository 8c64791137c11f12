"""kubectl describe: the object, and the events about it."""

from harness.objects import config_map, container, deployment, event, node, pod
from harness.registry import test
from harness.widgets import GROUP, widget


@test
def a_pod_and_its_events(t):
    node = t.run_pods()
    made = t.create(pod(
        "a", run=True, labels={"app": "x"},
        containers=[container(resources={"requests": {"cpu": "0.5", "memory": "1024Mi"}})]))
    t.create(event("e", made, "Tested", "it was tested"))
    t.eventually(lambda: t.kubectl("describe", "pod", "a").contains(
        "Name: <<\\s+>>a", f"Namespace: <<\\s+>>{t.namespace}", f"Node: <<\\s+>>{node}",
        "Labels: <<\\s+>>app=x", "Status: <<\\s+>>Running", "IP: <<\\s+>>192.0.2.10",
        """
        Requests:
          cpu:        500m
          memory:     1Gi
        """,
        "Ready             True", "QoS Class:                   Burstable",
        """
        Events:
          Type    Reason  Age   From    Message
        """,
        "Normal  Tested  <<AGE>>  tester  it was tested"))


@test
def a_pod_without_events(t):
    t.create(pod("a"))
    t.kubectl("describe", "pod", "a").contains(
        "Node:  <none>", "Status: <<\\s+>>Pending", "Events: <<\\s+<none>>>",
        "Tolerations: <<\\s+>>node.kubernetes.io/not-ready:NoExecute op=Exists for 300s\n"
        "node.kubernetes.io/unreachable:NoExecute op=Exists for 300s")


@test
def several_by_label(t):
    t.create(pod("a", labels={"app": "x"}), pod("b", labels={"app": "x"}), pod("c"))
    described = t.kubectl("describe", "pods", "-l", "app=x")
    described.contains("Name: <<\\s+>>a", "Name: <<\\s+>>b").lacks("Name: <<\\s+>>c")
    t.kubectl_fails("describe", "pod", "none").complains(
        'Error from server (NotFound): pods "none" not found')


@test
def a_node_and_its_pods(t):
    name = t.ready_node(taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    t.create(pod("a", run=True, node=name, containers=[
        container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "4"}})]))
    t.running("a")
    t.kubectl("describe", "node", name).contains(
        f"Name: <<\\s+>>{name}", "k=v:NoSchedule", "Ready    True",
        """
        Capacity:
          cpu:                8
          ephemeral-storage:  100Gi
          memory:             32Gi
          pods:               110
        """,
        "Kernel Version: <<\\s+>>6.1.0", "Kubelet Version: <<\\s+>>v1.35.0",
        "Non-terminated Pods: <<\\s+>>(1 in total)",
        f"{t.namespace}  a  2 (25%)  4 (50%)  0 (0%)  0 (0%)  <<AGE>>",
        "cpu  2 (25%)  4 (50%)")


@test
def a_deployment(t):
    t.create(deployment("d", replicas=2))
    t.eventually(lambda: t.kubectl("describe", "deployment", "d").contains(
        "Name: <<\\s+>>d", "Selector: <<\\s+>>app=d",
        "Replicas: <<\\s+>>2 desired | 2 updated | 2 total | 0 available | 2 unavailable",
        "StrategyType: <<\\s+>>RollingUpdate",
        "RollingUpdateStrategy:  25% max unavailable, 25% max surge",
        "Image: <<\\s+>>registry.example.com/app:1",
        "NewReplicaSet: <<\\s+>>d-<<HASH>> (2/2 replicas created)",
        "Normal  ScalingReplicaSet  <<AGE>>  deployment-controller  Scaled up replica set "
        "d-<<HASH>> <<(from 0 )?>>to 2"))


@test
def a_config_map(t):
    t.create(config_map("c", {"k": "value"}, annotations={"note": "x"}))
    t.kubectl("describe", "configmap", "c").contains(
        "Name: <<\\s+>>c", "Annotations:  note: x", "Data\n====\nk:\n----\nvalue")


@test
def a_custom_resource(t):
    t.widgets()
    t.create(widget("w", mode="a", ports=[{"name": "http", "port": 80}]))
    t.kubectl("describe", "widget", "w").contains(
        "Name: <<\\s+>>w", f"Namespace: <<\\s+>>{t.namespace}",
        f"API Version:  {GROUP}/v1", "Kind: <<\\s+>>Widget",
        """
        Spec:
          Mode:  a
          Ports:
            Name:      http
            Port:      80
            Protocol:  TCP
          Replicas:    1
        Events: <<\\s+<none>>>
        """)


@test
def events_about_a_node(t):
    """A kubelet puts the node's name where the uid belongs; newer kubectls ask for both."""
    name = t.name("n")
    made = t.create(node(name))
    by_uid = event(f"{name}.1", made, "ByUid", "with the uid")
    by_name = event(f"{name}.2", made, "ByName", "with the name")
    by_name["involvedObject"]["uid"] = name
    for thing in (by_uid, by_name):
        t.cleanup(t.api.delete, t.api.create(thing))
    described = t.kubectl("describe", "node", name).contains("ByName <<ANY>> with the name")
    if t.minor >= 21:
        described.contains("ByUid <<ANY>> with the uid")
