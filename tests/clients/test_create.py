"""kubectl create: from files, and by the commands that make an object of their flags.

Newer kubectls send what those commands make as protobuf.
"""

import json

from harness.check import ABSENT, expect
from harness.objects import config_map, deployment, pod
from harness.registry import test
from harness.widgets import GROUP, widget


@test
def from_a_file_with_several_documents(t):
    path = t.file("three.yaml", """
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {k: "1"}
---
# a document of comments only
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: s}
  stringData: {password: hunter2}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: d}
  spec:
    replicas: 0
    selector: {matchLabels: {app: d}}
    template:
      metadata: {labels: {app: d}}
      spec: {containers: [{name: c, image: "i:1"}]}
""")
    t.kubectl("create", "-f", path).prints("""
        configmap/a created
        secret/s created
        deployment.apps/d created
    """)
    t.kubectl("get", "secret", "s", "-o", "json").holds(
        {"data": {"password": "aHVudGVyMg=="}, "stringData": ABSENT, "type": "Opaque"})


@test
def from_standard_input(t):
    t.kubectl("create", "-f", "-", input=pod("a")).prints("pod/a created")
    t.kubectl("create", "-o", "name", "-f", "-", input=pod("b")).prints("pod/b")


@test
def a_new_object_shows_a_status(t):
    """Typed clients reach into it without asking whether it is there."""
    labels = {"app": "x"}
    work = {"selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}
    once = {"template": {"spec": {"restartPolicy": "Never",
                                  "containers": [{"name": "c", "image": "i"}]}}}
    kinds = (
        ("Deployment", "apps/v1", work, {}),
        ("ReplicaSet", "apps/v1", work, {"replicas": 0}),
        ("StatefulSet", "apps/v1", {**work, "serviceName": "s"},
         {"replicas": 0, "availableReplicas": 0}),
        ("DaemonSet", "apps/v1", work,
         {"currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0,
          "numberReady": 0}),
        ("Job", "batch/v1", once, {}),
        ("CronJob", "batch/v1", {"schedule": "* * * * *", "jobTemplate": {"spec": once}}, {}),
        ("PodDisruptionBudget", "policy/v1", {"minAvailable": 1},
         {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0,
          "expectedPods": 0}),
        ("Namespace", "v1", {}, {"phase": "Active"}),
        ("ResourceQuota", "v1", {"hard": {"pods": "1"}}, {}),
        ("Service", "v1", {"ports": [{"port": 80}]}, {"loadBalancer": {}}),
        ("PersistentVolumeClaim", "v1",
         {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
         {"phase": "Pending"}))
    manifests = [{"apiVersion": group_version, "kind": kind, "metadata": {"name": t.name("x")},
                  "spec": spec} for kind, group_version, spec, _ in kinds]
    # Not kept: a controller could be quicker than the answer.
    shown = t.kubectl("create", "--dry-run=server", "-f", "-", "-o",
                      r'jsonpath={.kind}{"\t"}{.status}{"\n"}',
                      input={"apiVersion": "v1", "kind": "List", "items": manifests}).stdout
    found = dict(line.split("\t") for line in shown.splitlines())
    for kind, _, _, status in kinds:
        expect(json.loads(found[kind]), status)


@test
def twice_is_an_error(t):
    t.kubectl("create", "-f", "-", input=config_map("a"))
    t.kubectl_fails("create", "-f", "-", input=config_map("a")).complains(
        'Error from server (AlreadyExists): error when creating "STDIN": configmaps "a" already '
        'exists')
    t.kubectl_fails("create", "configmap", "a").complains(
        '<<(Error from server \\(AlreadyExists\\)|error: failed to create configmap)>>: '
        'configmaps "a" already exists')


@test
def generated_names(t):
    thing = {**config_map("x"), "metadata": {"generateName": "job-"}}
    for _ in range(2):
        t.kubectl("create", "-f", "-", input=thing).prints("configmap/job-<<SUFFIX>> created")
    thing["metadata"]["generateName"] = "n" * 60
    t.kubectl("create", "-f", "-", input=thing).prints(f"configmap/{'n' * 58}<<SUFFIX>> created")


@test
def dry_run_by_the_server_stores_nothing(t):
    t.kubectl("create", "-f", "-", "--dry-run=server", "-o", "json", input=pod("a")).holds({
        "metadata": {"name": "a", "uid": lambda uid: len(uid) == 36},
        "spec": {"restartPolicy": "Always"}, "status": {"phase": "Pending"}})
    t.kubectl_fails("get", "pod", "a").mentions('pods "a" not found')
    t.kubectl("create", "configmap", "c", "--dry-run=server").prints(
        "configmap/c created (server dry run)")
    t.kubectl_fails("get", "configmap", "c").mentions('configmaps "c" not found')


@test
def edit_before_creation(t):
    editor = t.script("editor", 'sed -i "s/name: a/name: b/" "$1"')
    t.kubectl("create", "--edit", "-f", "-", input=config_map("a"),
              environment={"KUBE_EDITOR": str(editor)}).prints("configmap/b created")


@test
def a_custom_resource(t):
    t.widgets()
    t.kubectl("create", "-f", "-", input=widget("w", mode="a")).prints(f"widget.{GROUP}/w created")


@test
def the_stored_pod_has_defaults(t):
    t.kubectl("create", "-f", "-", input=pod("a", containers=[
        {"name": "c", "image": "example.com/i", "resources": {"limits": {"cpu": "0.5"}}}]))
    t.kubectl("get", "pod", "a", "-o", "json").holds({
        "metadata": {"generation": 1},
        "spec": {
            "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "enableServiceLinks": True,
            "terminationGracePeriodSeconds": 30, "priority": 0, "securityContext": {},
            "preemptionPolicy": "PreemptLowerPriority", "serviceAccountName": "default",
            "containers": [{"imagePullPolicy": "Always", "terminationMessagePolicy": "File",
                            "terminationMessagePath": "/dev/termination-log",
                            "resources": {"limits": {"cpu": "500m"},
                                          "requests": {"cpu": "500m"}}}],
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists",
                 "effect": "NoExecute", "tolerationSeconds": 300},
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists",
                 "effect": "NoExecute", "tolerationSeconds": 300}]},
        "status": {"phase": "Pending", "qosClass": "Burstable"}})


@test
def the_stored_deployment_has_defaults(t):
    thing = deployment("d")
    del thing["spec"]["replicas"]
    t.kubectl("create", "-f", "-", input=thing)
    t.kubectl("get", "deployment", "d", "-o", "json").holds({
        "spec": {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
                 "strategy": {"type": "RollingUpdate", "rollingUpdate": {
                     "maxSurge": "25%", "maxUnavailable": "25%"}},
                 "template": {"spec": {"restartPolicy": "Always"}}}})


@test
def configmap_command(t):
    path = t.file("app.properties", "x=1\n")
    t.kubectl("create", "configmap", "c", "--from-literal=k=v", f"--from-file={path}").prints(
        "configmap/c created")
    t.kubectl("get", "configmap", "c", "-o", "json").holds(
        {"data": {"k": "v", "app.properties": "x=1\n"}})


@test
def secret_commands(t):
    t.kubectl("create", "secret", "generic", "s", "--from-literal=k=v").prints("secret/s created")
    t.kubectl("get", "secret", "s", "-o", "json").holds({"data": {"k": "dg=="}, "type": "Opaque"})
    t.kubectl("create", "secret", "docker-registry", "d", "--docker-server=r.example.com",
              "--docker-username=u", "--docker-password=p").prints("secret/d created")
    t.kubectl("get", "secret", "d", "-o", "jsonpath={.type}").prints(
        "kubernetes.io/dockerconfigjson")


@test
def namespace_command(t):
    name = t.name("n")
    t.cleanup(t.api.delete, {"kind": "Namespace", "metadata": {"name": name}})
    t.kubectl("create", "namespace", name).prints(f"namespace/{name} created")
    t.kubectl("get", "namespace", name, "-o", "json").holds({
        "metadata": {"labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})


@test
def deployment_command(t):
    t.kubectl("create", "deployment", "d", "--image=example.com/i:1", "--replicas=0",
              "--port=8080").prints("deployment.apps/d created")
    t.kubectl("get", "deployment", "d", "-o", "json").holds({
        "metadata": {"labels": {"app": "d"}},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "d"}}, "template": {
            "spec": {"containers": [{"name": "i", "image": "example.com/i:1", "ports": [
                {"containerPort": 8080, "protocol": "TCP"}]}]}}}})


@test
def job_commands(t):
    t.kubectl("create", "job", "j", "--image=example.com/i:1", "--", "sh", "-c", "true").prints(
        "job.batch/j created")
    t.kubectl("get", "job", "j", "-o", "json").holds({
        "spec": {"completions": 1, "parallelism": 1, "backoffLimit": 6, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"command": ["sh", "-c", "true"]}]}}}})


@test(since=21)
def cron_job_command(t):
    t.kubectl("create", "cronjob", "c", "--image=example.com/i:1", "--schedule=0 3 * * *").prints(
        "cronjob.batch/c created")
    t.kubectl("get", "cronjobs").prints("""
        NAME  SCHEDULE  TIMEZONE  SUSPEND  ACTIVE  LAST SCHEDULE  AGE
        c  0 3 * * *  <none>  False  0  <none>  <<AGE>>
    """)
    t.kubectl("create", "job", "j", "--from=cronjob/c").prints("job.batch/j created")
    t.kubectl("get", "job", "j", "-o", "json").holds({
        "metadata": {"annotations": {"cronjob.kubernetes.io/instantiate": "manual"},
                     "ownerReferences": [{"kind": "CronJob", "name": "c", "controller": True}]}})


@test
def service_account_command(t):
    t.kubectl("create", "serviceaccount", "robot").prints("serviceaccount/robot created")
    t.kubectl("get", "serviceaccount", "robot", "-o", "name").prints("serviceaccount/robot")


@test(since=24)
def token_command(t):
    t.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}})
    token = t.kubectl("create", "token", "robot", "--duration=1h").stdout.strip()
    t.kubectl("create", "-f", "-", "-o", "json", input={
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {},
        "spec": {"token": token}}).holds({"status": {"authenticated": True, "user": {
            "username": f"system:serviceaccount:{t.namespace}:robot"}}})


@test
def priority_class_command(t):
    name = t.name("p")
    t.cleanup(t.api.delete, {"kind": "PriorityClass", "metadata": {"name": name}})
    t.kubectl("create", "priorityclass", name, "--value=1000", "--description=high").prints(
        f"priorityclass.scheduling.k8s.io/{name} created")
    t.kubectl("get", "priorityclass", name, "-o", "json").holds(
        {"value": 1000, "description": "high", "preemptionPolicy": "PreemptLowerPriority"})


@test(since=21)  # 1.20 knows only policy/v1beta1, which is no longer served
def disruption_budget_command(t):
    t.kubectl("create", "poddisruptionbudget", "b", "--selector=app=x", "--min-available=50%"
              ).prints("poddisruptionbudget.policy/b created")
    t.kubectl("get", "pdb", "b", "-o", "json").holds({
        "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "x"}}}})


@test
def quota_command(t):
    t.kubectl("create", "quota", "q", "--hard=pods=10,requests.cpu=0.5").prints(
        "resourcequota/q created")
    t.kubectl("get", "quota", "q", "-o", "json").holds(
        {"spec": {"hard": {"pods": "10", "requests.cpu": "500m"}}})


@test
def role_commands(t):
    t.kubectl("create", "role", "r", "--verb=get,list", "--resource=pods,deployments.apps").prints(
        "role.rbac.authorization.k8s.io/r created")
    t.kubectl("get", "role", "r", "-o", "json").holds({"rules": [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]}]})
    t.kubectl("create", "rolebinding", "b", "--role=r", "--user=jane").prints(
        "rolebinding.rbac.authorization.k8s.io/b created")
    t.kubectl("get", "rolebinding", "b", "-o", "wide").prints("""
        NAME  ROLE  AGE  USERS  GROUPS  SERVICEACCOUNTS
        b  Role/r  <<AGE>>  jane
    """)


@test
def cluster_role_commands(t):
    name = t.name("c")
    for kind in ("ClusterRole", "ClusterRoleBinding"):
        t.cleanup(t.api.delete, {"kind": kind, "metadata": {"name": name}})
    t.kubectl("create", "clusterrole", name, "--verb=get", "--resource=nodes").prints(
        f"clusterrole.rbac.authorization.k8s.io/{name} created")
    t.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", "--group=g").prints(
        f"clusterrolebinding.rbac.authorization.k8s.io/{name} created")


@test
def service_command(t):
    t.kubectl("create", "service", "clusterip", "s", "--clusterip=None").prints("service/s created")
    t.kubectl("get", "service", "s", "-o", "json").holds(
        {"spec": {"clusterIP": "None", "type": "ClusterIP", "selector": {"app": "s"}}})


@test
def run_and_expose(t):
    t.kubectl("run", "p", "--image=example.com/i:1", "--labels=app=p", "--port=80").prints(
        "pod/p created")
    t.kubectl("expose", "pod", "p", "--port=80", "--name=s", "--cluster-ip=None").prints(
        "service/s exposed")
    t.kubectl("get", "service", "s", "-o", "json").holds(
        {"spec": {"selector": {"app": "p"}, "ports": [{"port": 80, "targetPort": 80}]}})
