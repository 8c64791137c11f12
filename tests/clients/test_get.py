"""kubectl get: which objects, and how they are printed."""

import itertools
import re

import yaml

from harness.check import ABSENT, expect
from harness.objects import config_map, container, deployment, pod
from harness.registry import test


@test
def prints_a_table(t):
    t.create(pod("a"), pod("b"))
    t.kubectl("get", "pods").prints("""
        NAME   READY   STATUS    RESTARTS   AGE
        a      0/1     Pending   0          <<AGE>>
        b      0/1     Pending   0          <<AGE>>
    """)


@test
def wide_adds_columns(t):
    node = t.run_pods()
    t.create(pod("a", run=True))
    t.eventually(lambda: t.kubectl("get", "pod", "a", "-o", "wide").prints(f"""
        NAME  READY  STATUS   RESTARTS  AGE      IP          NODE    NOMINATED NODE  READINESS GATES
        a     1/1    Running  0         <<AGE>>  192.0.2.10  {node}  <none>          <none>
    """))


@test
def one_table_for_each_kind(t):
    t.create(config_map("a", {"x": "1", "y": "2"}), pod("b"))
    t.kubectl("get", "configmaps,pods", "-l", "!kubernetes").contains("""
        NAME <<ANY>> DATA   AGE
    """, """
        configmap/a   2   <<AGE>>
    """, """
        NAME    READY   STATUS    RESTARTS   AGE
        pod/b   0/1     Pending   0          <<AGE>>
    """)


@test
def objects_by_type_and_name(t):
    t.create(config_map("a"), pod("b"), pod("c"))
    t.kubectl("get", "pod/b", "cm/a", "-o", "name").prints("pod/b\nconfigmap/a")
    t.kubectl("get", "pod", "c", "b", "-o", "name").prints("pod/c\npod/b")


@test
def nothing_found_is_no_error(t):
    answer = t.kubectl("get", "pods").prints("")
    answer.complains(f"No resources found in {t.namespace} namespace.")
    t.kubectl("get", "pod", "none", "--ignore-not-found").prints("").complains("")


@test
def yaml_and_json_are_the_object(t):
    t.create(config_map("a", {"x": "1"}, labels={"l": "1"}))
    expected = {
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "1"},
        "metadata": {"name": "a", "namespace": t.namespace, "labels": {"l": "1"},
                     "uid": re.compile("^[0-9a-f-]{36}$"),
                     "resourceVersion": re.compile("^[0-9]+$"),
                     "creationTimestamp": re.compile("^20..-..-..T..:..:..Z$"),
                     "generation": ABSENT, "selfLink": ABSENT},
    }
    t.kubectl("get", "configmap", "a", "-o", "json").holds(expected)
    printed = yaml.load(t.kubectl("get", "configmap", "a", "-o", "yaml").stdout, yaml.BaseLoader)
    expect(printed, expected, "the YAML")


@test
def json_of_several_is_a_list(t):
    t.create(config_map("a"), config_map("b"))
    t.kubectl("get", "configmap", "a", "b", "-o", "json").holds({
        "apiVersion": "v1", "kind": "List",
        "items": [{"kind": "ConfigMap", "metadata": {"name": "a"}},
                  {"kind": "ConfigMap", "metadata": {"name": "b"}}]})


@test(since=21)
def managed_fields_are_shown_on_request(t):
    t.create(config_map("a", {"x": "1"}))
    t.kubectl("get", "configmap", "a", "-o", "json").holds({"metadata": {"managedFields": ABSENT}})
    t.kubectl("get", "configmap", "a", "-o", "json", "--show-managed-fields").holds({
        "metadata": {"managedFields": [{
            "manager": "clients-test", "operation": "Update", "apiVersion": "v1",
            "time": re.compile("^20.*Z$"), "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:x": {}}}}]}})


@test
def jsonpath_picks_values(t):
    t.create(pod("a", labels={"x": "1"}), pod("b", labels={"x": "2"}))
    t.kubectl("get", "pod", "a", "-o", "jsonpath={.spec.containers[0].name}").prints("app")
    t.kubectl("get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name}="
              "{.metadata.labels.x} {end}").prints("a=1 b=2 ")
    t.kubectl("get", "pods", "-o", "jsonpath={.items[?(@.metadata.labels.x=='2')].metadata.name}"
              ).prints("b")


@test
def templates_and_custom_columns(t):
    t.create(pod("a"), pod("b"))
    t.kubectl("get", "pods", "-o",
              "custom-columns=WHO:.metadata.name,IMAGE:.spec.containers[*].image,X:.spec.nope"
              ).prints("""
        WHO   IMAGE                        X
        a     registry.example.com/app:1   <none>
        b     registry.example.com/app:1   <none>
    """)
    t.kubectl("get", "pods", "-o", "go-template={{range .items}}{{.metadata.name}};{{end}}"
              ).prints("a;b;")


@test
def names_only(t):
    t.create(deployment("d", replicas=0), config_map("a"))
    t.kubectl("get", "deployments", "-o", "name").prints("deployment.apps/d")
    t.kubectl("get", "cm", "a", "--no-headers").prints("a   0   <<AGE>>")


@test
def all_namespaces(t):
    t.create(pod("only-here", labels={"test": t.namespace}))
    t.kubectl("get", "pods", "-A", "-l", f"test={t.namespace}").prints(f"""
        NAMESPACE      NAME       READY   STATUS    RESTARTS   AGE
        {t.namespace}  only-here  0/1     Pending   0          <<AGE>>
    """)


@test
def label_selectors(t):
    t.create(pod("a", labels={"app": "x", "tier": "1"}), pod("b", labels={"app": "x"}),
             pod("c", labels={"app": "y", "tier": "2"}), pod("d"))
    t.finds("pods", "-l", {
        "app=x": "a b", "app==y": "c", "app!=x": "c d", "app in (x,y),tier": "a c",
        "app notin (x)": "c d", "!app": "d", "tier>1": "c", "app=x,!tier": "b", "app=z": ""})


@test
def a_bad_label_selector_is_refused(t):
    t.kubectl_fails("get", "pods", "-l", "a=b=c").mentions(
        "found '=', expected: ',' or 'end of string'")


@test
def labels_as_columns(t):
    t.create(pod("a", labels={"app": "x"}))
    t.kubectl("get", "pods", "-L", "app", "--show-labels").prints("""
        NAME   READY   STATUS    RESTARTS   AGE       APP   LABELS
        a      0/1     Pending   0          <<AGE>>   x     app=x
    """)


@test
def field_selectors(t):
    node = t.run_pods()
    t.create(pod("a", run=True), pod("b"), pod("c"))
    t.running("a")
    t.finds("pods", "--field-selector", {
        "metadata.name=b": "b", "metadata.name!=b": "a c", "status.phase=Running": "a",
        "status.phase!=Running": "b c", f"spec.nodeName={node}": "a",
        "spec.nodeName=,metadata.name!=c": "b", "spec.schedulerName=nobody": "b c",
        "spec.restartPolicy=Never": ""})


@test
def an_unknown_field_selector_is_refused(t):
    t.kubectl_fails("get", "pods", "--field-selector", "spec.nope=1").complains(
        'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label '
        'selector "", field selector "spec.nope=1": field label not supported: spec.nope')
    t.kubectl_fails("get", "configmaps", "--field-selector", "data.x=1").mentions(
        '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"')


@test
def sort_by_a_field(t):
    t.create(pod("a", priorityClassName="system-node-critical"),
             config_map("z"), config_map("m", labels={"n": "2"}), config_map("b"))
    t.kubectl("get", "cm", "--sort-by", ".metadata.name", "--field-selector",
              "metadata.name!=kube-root-ca.crt", "--no-headers").prints("""
        b   0   <<AGE>>
        m   0   <<AGE>>
        z   0   <<AGE>>
    """)
    t.create(pod("b"), pod("c", priorityClassName="system-cluster-critical"))
    t.kubectl("get", "pods", "--sort-by", ".spec.priority", "-o", "name").prints(
        "pod/b\npod/c\npod/a")


@test
def chunks_make_one_list(t):
    t.create(*(config_map(f"c{i}", labels={"chunk": ""}) for i in range(7)))
    answer = t.kubectl("get", "configmaps", "-l", "chunk", "--chunk-size=3", "-o", "name", "-v=6")
    answer.prints("\n".join(f"configmap/c{i}" for i in range(7)))
    if len(re.findall(r"continue=", answer.stderr)) != 2:
        answer.fail("two requests with a continue token")
    t.kubectl("get", "configmaps", "-l", "chunk", "--chunk-size=3", "--no-headers").prints(
        "\n".join(f"c{i}   0   <<AGE>>" for i in range(7)))


@test
def watch_shows_changes(t):
    t.create(pod("a"))
    watch = t.start_kubectl("get", "pods", "-w")
    watch.wait_for("""
        NAME READY STATUS RESTARTS AGE
        a 0/1 Pending 0 <<AGE>>
    """)
    t.create(pod("b"))
    watch.wait_for("b 0/1 Pending 0 <<AGE>>")
    t.set_status("Pod", "a", {"phase": "Failed", "reason": "Evicted"})
    watch.wait_for("a 0/1 Evicted 0 <<AGE>>")


@test
def watch_events_as_objects(t):
    t.create(config_map("a"))
    watch = t.start_kubectl(
        "get", "configmaps", "-w", "--output-watch-events", "--field-selector", "metadata.name=a",
        "-o", 'jsonpath={.type} {.object.metadata.name} {.object.data.x}{"\\n"}')
    watch.wait_for("ADDED a")
    t.patch("ConfigMap", "a", {"data": {"x": "1"}})
    watch.wait_for("MODIFIED a 1")
    t.api.delete(t.get("ConfigMap", "a"))
    watch.wait_for("DELETED a 1")


@test
def watch_of_one_object(t):
    t.create(config_map("a"), config_map("b"))
    watch = t.start_kubectl("get", "configmap", "a", "-w", "--no-headers")
    watch.wait_for("a 0 <<AGE>>")
    t.patch("ConfigMap", "b", {"data": {"x": "1"}})

    # kubectl watches after it has printed, and passes over the first event: a change in between.
    numbers = itertools.count()

    def change():
        t.patch("ConfigMap", "a", {"data": {"x": "1", "y": str(next(numbers))}})

    change()
    watch.wait_for("a 2 <<AGE>>", again=change)


@test
def watch_with_selector_sees_objects_come_and_go(t):
    t.create(config_map("a", labels={"on": "1"}))
    watch = t.start_kubectl("get", "configmaps", "-w", "-l", "on=1", "--output-watch-events")
    watch.wait_for("ADDED a 0 <<AGE>>")
    t.patch("ConfigMap", "a", {"metadata": {"labels": {"on": "0"}}})
    watch.wait_for("DELETED a 0 <<AGE>>")
    t.patch("ConfigMap", "a", {"metadata": {"labels": {"on": "1"}}})
    watch.wait_for("ADDED a\nDELETED a\nADDED a")


@test
def from_a_file(t):
    t.create(config_map("a"), config_map("b"))
    path = t.file("both.json", {"apiVersion": "v1", "kind": "List",
                                "items": [config_map("a"), config_map("b")]})
    t.kubectl("get", "-f", path, "-o", "name").prints("configmap/a\nconfigmap/b")


@test
def the_category_all(t):
    t.create(pod("p"), deployment("d", replicas=0), config_map("not-in-all"))
    t.eventually(lambda: t.kubectl("get", "all", "-o", "name").prints("""
        pod/p
        deployment.apps/d
        replicaset.apps/d-<<HASH>>
    """))


@test
def raw_paths(t):
    t.kubectl("get", "--raw", "/readyz").prints("ok")
    t.create(config_map("a"))
    t.kubectl("get", "--raw", f"/api/v1/namespaces/{t.namespace}/configmaps/a").holds(
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}})
    t.kubectl_fails("get", "--raw", "/apis/nope.example.com").complains(
        "Error from server (NotFound): the server could not find the requested resource")


@test(since=24)
def a_subresource(t):
    t.create(deployment("d", replicas=2))
    t.kubectl("get", "deployment", "d", "--subresource=scale").prints("""
        NAME   DESIRED   AVAILABLE   AGE
        d      2         <<\\d>>       <<AGE>>
    """)
    t.kubectl("get", "deployment", "d", "--subresource=status", "-o", "jsonpath={.kind}").prints(
        "Deployment")


@test
def pod_status_tells_the_reason(t):
    """The Status column of a pod is made of its phase, its reason and its containers' states."""
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off"}}
    crashed = {"terminated": {"exitCode": 137, "signal": 9}}
    done = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    running = {"running": {}}

    def state(name, state, restarts=0):
        return {"name": name, "image": "i", "imageID": "", "ready": "running" in state,
                "restartCount": restarts, "state": state}

    cases = {
        "pulling": ({"phase": "Pending", "containerStatuses": [state("app", waiting)]},
                    "0/1 ImagePullBackOff 0"),
        "killed": ({"phase": "Running", "containerStatuses": [state("app", crashed, 2)]},
                   "0/1 Signal:9 2"),
        "done": ({"phase": "Succeeded", "containerStatuses": [state("app", done)]},
                 "0/1 Completed 0"),
        "running": ({"phase": "Running", "containerStatuses": [state("app", running, 3)]},
                    "1/1 Running 3"),
        "evicted": ({"phase": "Failed", "reason": "Evicted"}, "0/1 Evicted 0"),
        "unknown": ({"phase": "Unknown"}, "0/1 Unknown 0"),
    }
    for name, (status, _) in cases.items():
        t.create(pod(name))
        t.set_status("Pod", name, status)
    rows = {line.split()[0]: " ".join(line.split()[1:4])
            for line in t.kubectl("get", "pods", "--no-headers").stdout.splitlines()}
    expect(rows, {name: row for name, (_, row) in cases.items()}, "the table")


@test
def pod_status_while_initializing(t):
    t.create(pod("a", initContainers=[container("one"), container("two")]))
    t.set_status("Pod", "a", {"phase": "Pending", "initContainerStatuses": [
        {"name": "one", "image": "i", "imageID": "", "ready": True, "restartCount": 0,
         "state": {"terminated": {"exitCode": 0}}},
        {"name": "two", "image": "i", "imageID": "", "ready": False, "restartCount": 0,
         "state": {"waiting": {"reason": "PodInitializing"}}}]})
    t.kubectl("get", "pods", "--no-headers").prints("a   0/1   Init:1/2   0   <<AGE>>")


@test
def gated_and_terminating_pods(t):
    node = t.run_pods()
    t.create(pod("gated", schedulingGates=[{"name": "example.com/gate"}]),
             pod("ending", run=True, node=node, terminationGracePeriodSeconds=600))
    t.running("ending")
    t.hold("Pod", "ending")
    t.api.delete(t.get("Pod", "ending"))
    t.kubectl("get", "pods", "--no-headers").prints("""
        ending   1/1   Terminating       0   <<AGE>>
        gated    0/1   SchedulingGated   0   <<AGE>>
    """)


@test
def an_unknown_type_or_name_is_an_error(t):
    t.kubectl_fails("get", "pod", "none").complains(
        'Error from server (NotFound): pods "none" not found')
    t.kubectl_fails("get", "deployment", "none").complains(
        'Error from server (NotFound): deployments.apps "none" not found')
    t.kubectl_fails("get", "nonsense").complains(
        'error: the server doesn\'t have a resource type "nonsense"')
    t.kubectl_fails("get", "pods", "-n", "no-such-namespace", "x").complains(
        'Error from server (NotFound): <<(namespaces "no-such-namespace"|pods "x")>> not found')


@test
def short_names_and_singulars(t):
    t.create(config_map("a"), deployment("d", replicas=0))
    for alias in ("cm", "configmap", "configmaps", "ConfigMap"):
        t.kubectl("get", alias, "a", "-o", "name").prints("configmap/a")
    for alias in ("deploy", "deployments.apps", "deployments.v1.apps", "deployment.apps"):
        t.kubectl("get", alias, "d", "-o", "name").prints("deployment.apps/d")
