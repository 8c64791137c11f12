"""The columns of kubectl get for the kinds that users look at most."""

from harness.kubelet import ready_node_status
from harness.objects import budget, config_map, deployment, job, node, pod, workload
from harness.registry import test


@test
def nodes(t):
    name = t.name("n")
    t.create(node(name))
    t.kubectl("get", "node", name).prints(f"""
        NAME     STATUS    ROLES    AGE       VERSION
        {name}   Unknown   <none>   <<AGE>>
    """)
    t.set_status("Node", name, ready_node_status())
    t.patch("Node", name, {"metadata": {"labels": {"node-role.kubernetes.io/worker": ""}},
                           "spec": {"unschedulable": True}})
    t.kubectl("get", "node", name, "-o", "wide").prints(
        "NAME  STATUS  ROLES  AGE  VERSION  INTERNAL-IP  EXTERNAL-IP  OS-IMAGE  KERNEL-VERSION  "
        "CONTAINER-RUNTIME\n"
        f"{name}  Ready,SchedulingDisabled  worker  <<AGE>>  v1.35.0  192.0.2.1  <none>  "
        "Debian 12  6.1.0  containerd://2.0.0")


@test
def workloads(t):
    t.create(deployment("d", replicas=0), workload("StatefulSet", "s", {"app": "s"}, replicas=0,
                                                   serviceName="s"),
             workload("DaemonSet", "ds", {"app": "ds"}), job("j", suspend=True))
    t.set_status("Deployment", "d", {"replicas": 0})
    t.kubectl("get", "deployments", "-o", "wide").prints("""
        NAME  READY  UP-TO-DATE  AVAILABLE  AGE  CONTAINERS  IMAGES  SELECTOR
        d  0/0  0  0  <<AGE>>  app  registry.example.com/app:1  app=d
    """)
    t.kubectl("get", "statefulsets", "-o", "wide").prints("""
        NAME  READY  AGE  CONTAINERS  IMAGES
        s  0/0  <<AGE>>  app  registry.example.com/app:1
    """)
    t.kubectl("get", "daemonsets").contains(
        "NAME  DESIRED  CURRENT  READY  UP-TO-DATE  AVAILABLE  NODE SELECTOR  AGE",
        "ds  <<\\d+  \\d+  0  \\d+  0>>  <none>  <<AGE>>")
    t.eventually(lambda: t.kubectl("get", "jobs").prints("""
        NAME  STATUS  COMPLETIONS  DURATION  AGE
        j  Suspended  0/1  <<(0s)?\\s*>><<AGE>>
    """))
    t.eventually(lambda: t.kubectl("get", "replicasets").prints("""
        NAME  DESIRED  CURRENT  READY  AGE
        d-<<HASH>>  0  0  0  <<AGE>>
    """))


@test
def configuration(t):
    t.create(config_map("c", {"a": "1", "b": "2"}),
             {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
              "stringData": {"k": "v"}},
             {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa"}})
    t.kubectl("get", "configmap", "c").prints("NAME  DATA  AGE\nc  2  <<AGE>>")
    t.kubectl("get", "secret", "s").prints("NAME  TYPE  DATA  AGE\ns  Opaque  1  <<AGE>>")
    t.kubectl("get", "serviceaccount", "sa").contains("sa  <<(\\d  )?>><<AGE>>")
    t.kubectl("get", "namespace", t.namespace).prints(
        f"NAME  STATUS  AGE\n{t.namespace}  Active  <<AGE>>")


@test
def services(t):
    t.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
              "spec": {"clusterIP": "None", "selector": {"app": "x"}, "ports": [
                  {"name": "http", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}]}})
    t.kubectl("get", "service", "s", "-o", "wide").prints("""
        NAME  TYPE  CLUSTER-IP  EXTERNAL-IP  PORT(S)  AGE  SELECTOR
        s  ClusterIP  None  <none>  80/TCP,53/UDP  <<AGE>>  app=x
    """)


@test
def disruption_budgets(t):
    t.create(budget("min", {"app": "x"}, minAvailable=2),
             budget("max", {"app": "y"}, maxUnavailable="25%"))
    t.eventually(lambda: t.kubectl("get", "poddisruptionbudgets").prints("""
        NAME  MIN AVAILABLE  MAX UNAVAILABLE  ALLOWED DISRUPTIONS  AGE
        max  N/A  25%  0  <<AGE>>
        min  2  N/A  0  <<AGE>>
    """))


@test
def priorities_and_leases(t):
    name = t.name("p")
    t.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
              "metadata": {"name": name}, "value": 7, "description": "seven"},
             {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
              "spec": {"holderIdentity": "me"}})
    t.kubectl("get", "priorityclass", name).prints(f"""
        NAME  VALUE  GLOBAL-DEFAULT  AGE  PREEMPTIONPOLICY
        {name}  7  false  <<AGE>>  PreemptLowerPriority
    """)
    t.kubectl("get", "leases").prints("NAME  HOLDER  AGE\nl  me  <<AGE>>")


@test
def quotas(t):
    hard = {"pods": "10", "requests.cpu": "2", "limits.cpu": "4"}
    t.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
              "spec": {"hard": hard}})
    t.set_status("ResourceQuota", "q", {"hard": hard, "used": dict.fromkeys(hard, "0")})
    t.kubectl("get", "resourcequota", "q").contains(
        "q  pods: 0/10, requests.cpu: 0/2  limits.cpu: 0/4  <<AGE>>")


@test
def volumes(t):
    volume = t.name("v")
    t.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
              "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                       "storageClassName": "none", "persistentVolumeReclaimPolicy": "Retain",
                       "hostPath": {"path": "/x"}}},
             {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
              "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "other",
                       "resources": {"requests": {"storage": "1Gi"}}}})
    t.kubectl("get", "pv", volume).contains(f"{volume}  1Gi  RWO  Retain  <<ANY>>none")
    t.eventually(lambda: t.kubectl("get", "pvc", "c").prints("""
        NAME  STATUS  VOLUME  CAPACITY  ACCESS MODES  STORAGECLASS  VOLUMEATTRIBUTESCLASS  AGE
        c  Pending  other  <unset>  <<AGE>>
    """))


@test
def old_objects_have_a_round_age(t):
    t.create(pod("a"))
    t.set_status("Pod", "a", {"phase": "Running", "containerStatuses": [{
        "name": "app", "image": "i", "imageID": "", "ready": True, "restartCount": 4,
        "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2020-01-01T00:00:00Z"}}}]})
    t.kubectl("get", "pod", "a", "--no-headers").prints(
        "a  1/1  Running  4 (<<\\dy\\d+d>> ago)  <<AGE>>")
