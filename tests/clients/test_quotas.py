"""ResourceQuotas and LimitRanges."""

from harness.check import expect
from harness.objects import config_map, container, deployment, meta, pod
from harness.registry import test


def quota(name, hard, **spec):
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta(name),
            "spec": {"hard": hard, **spec}}


def limit_range(name, *limits):
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta(name),
            "spec": {"limits": list(limits)}}


def asking(name, **requests):
    return pod(name, containers=[container(resources={"requests": requests})])


def enforced(t, *quotas):
    """Creates quotas, and waits until it is known what is used."""
    t.create(*quotas)
    for each in quotas:
        name = each["metadata"]["name"]
        t.eventually(lambda: set(t.get("ResourceQuota", name).get("status", {}).get("used", {}))
                     == set(each["spec"]["hard"]), f"quota {name} to be in force")


def uses(t, name, **used):
    t.eventually(lambda: t.get("ResourceQuota", name).get("status", {}).get("used", {}).items()
                 >= used.items(), f"quota {name} to have used {used}")


def refused(t, thing, message, reason=None):
    """Kubernetes' admission may look at what was used a moment ago: a dry run shows when it knows."""
    thing = {**thing, "metadata": meta(thing["metadata"]["name"], namespace=t.namespace)}
    t.eventually(lambda: t.api.try_create(thing, query={"dryRun": "All"}).rejects(403))
    t.api.try_create(thing).rejects(403, message, reason)


@test
def created_by_kubectl(t):
    t.kubectl("create", "quota", "q", "--hard=cpu=2,pods=10").prints("resourcequota/q created")
    uses(t, "q", cpu="0", pods="0")
    t.create(asking("a", cpu="1"))
    uses(t, "q", cpu="1", pods="1")
    t.kubectl("describe", "quota", "q").contains(f"""
        Name:       q
        Namespace:  {t.namespace}
        Resource    Used  Hard
        --------    ----  ----
        cpu         1     2
        pods        1     10
        """)
    t.kubectl("get", "quota", "--no-headers").prints(
        "q  cpu: 1/2, pods: 1/10  <<AGE>>")


@test
def refuses_what_exceeds_it(t):
    enforced(t, quota("q", {"cpu": "2"}))
    t.create(asking("a", cpu="1"))
    refused(t, asking("b", cpu="2"),
            'pods "b" is forbidden: exceeded quota: q, requested: cpu=2, used: cpu=1, '
            "limited: cpu=2", "Forbidden")
    refused(t, pod("c"), 'pods "c" is forbidden: failed quota: q: must specify cpu for: app')
    t.api.delete(t.get("Pod", "a"), {"gracePeriodSeconds": 0})
    uses(t, "q", cpu="0")
    # Kubernetes' admission may look at what was used a moment ago.
    t.eventually(lambda: t.create(asking("b", cpu="2")))


@test
def counts_objects(t):
    enforced(t, quota("q", {"count/secrets": "1", "count/deployments.apps": "1"}))
    t.create(deployment("d"))
    refused(t, deployment("e"),
            'deployments.apps "e" is forbidden: exceeded quota: q, requested: '
            "count/deployments.apps=1, used: count/deployments.apps=1, "
            "limited: count/deployments.apps=1")
    t.create(config_map("free"))
    t.api.delete(t.get("Deployment", "d"))
    uses(t, "q", **{"count/deployments.apps": "0"})


@test
def only_pods_in_scope_count(t):
    enforced(t, quota("q", {"pods": "1"}, scopes=["BestEffort"]))
    t.create(pod("a"), asking("b", cpu="1"))
    uses(t, "q", pods="1")
    refused(t, pod("c"),
            'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, '
            "limited: pods=1")


@test
def that_make_no_sense(t):
    t.api.try_create({**quota("q", {"cpux": "1"}), "metadata": meta("q", namespace=t.namespace)}) \
        .rejects(422, 'ResourceQuota "q" is invalid: [spec.hard[cpux]: Invalid value: "cpux": '
                      "must be a standard resource type or fully qualified, spec.hard[cpux]: "
                      'Invalid value: "cpux": must be a standard resource for quota]', "Invalid")


@test
def limits_are_filled_in(t):
    t.create(limit_range("l", {"type": "Container", "max": {"memory": "1Gi"},
                               "defaultRequest": {"cpu": "100m"}, "default": {"cpu": "500m"}}))
    t.create(pod("a"))
    expect(t.get("Pod", "a"), {
        "metadata": {"annotations": {"kubernetes.io/limit-ranger":
                     "LimitRanger plugin set: cpu, memory request for container app; "
                     "cpu, memory limit for container app"}},
        "spec": {"containers": [{"resources": {
            "requests": {"cpu": "100m", "memory": "1Gi"},
            "limits": {"cpu": "500m", "memory": "1Gi"}}}]}})
    t.kubectl("describe", "limits", "l").contains(
        "Container  cpu       -    -    100m             500m           -",
        "Container  memory    -    1Gi  1Gi              1Gi            -")


@test
def limits_are_kept(t):
    t.create(limit_range("l", {"type": "Container", "min": {"cpu": "100m"}}))
    t.api.try_create({**asking("a", cpu="50m"), "metadata": meta("a", namespace=t.namespace)}) \
        .rejects(403, 'pods "a" is forbidden: minimum cpu usage per Container is 100m, but '
                      "request is 50m", "Forbidden")
