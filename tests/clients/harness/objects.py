"""Manifests, as short as a test can have them."""

from .kubelet import SCHEDULER

IMAGE = "registry.example.com/app:1"


def meta(name, **more):
    """Metadata without what is empty, as a person would write it."""
    return {"name": name, **{key: value for key, value in more.items() if value}}


def pod(name, run=False, labels=None, node=None, annotations=None, **spec):
    """A pod that nobody runs, or with `run` one that the suite's own kubelet runs (on `node`)."""
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": meta(name, labels=labels, annotations=annotations),
        "spec": {"containers": [container()], **scheduler(run), **spec},
    }


def container(name="app", image=IMAGE, **more):
    return {"name": name, "image": image, **more}


def scheduler(run):
    # Without `run` a name that no scheduler answers to keeps the pod pending.
    return {"schedulerName": SCHEDULER if run else "nobody"}


def config_map(name, data=None, **metadata):
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, **metadata)}
    return {**made, "data": data} if data else made


def workload(kind, name, labels, api="apps/v1", run=False, annotations=None, **spec):
    return {
        "apiVersion": api, "kind": kind, "metadata": meta(name, labels=labels),
        "spec": {
            "selector": {"matchLabels": labels},
            "template": template(labels, run, annotations),
            **spec,
        },
    }


def template(labels, run=False, annotations=None, **spec):
    metadata = {"labels": labels, "annotations": annotations}
    return {"metadata": {key: value for key, value in metadata.items() if value},
            "spec": {"containers": [container()], **scheduler(run), **spec}}


def deployment(name, replicas=1, run=False, **spec):
    return workload("Deployment", name, {"app": name}, run=run, replicas=replicas, **spec)


def replica_set(name, replicas=1, run=False, **spec):
    return workload("ReplicaSet", name, {"app": name}, run=run, replicas=replicas, **spec)


def job(name, run=False, annotations=None, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta(name),
            "spec": {"template": template({}, run, annotations, restartPolicy="Never"), **spec}}


def budget(name, labels, **spec):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta(name),
            "spec": {"selector": {"matchLabels": labels}, **spec}}


def node(name, **spec):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": meta(name, labels={"kubernetes.io/hostname": name}), "spec": spec}


def event(name, about, reason, message, kind="Normal", **more):
    """An old event about the object `about`, as it was stored."""
    involved = {key: about["metadata"].get(key) for key in ("name", "namespace", "uid")}
    return {
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": name, "namespace": about["metadata"].get("namespace", "default")},
        "involvedObject": {"kind": about["kind"], "apiVersion": about["apiVersion"], **involved},
        "reason": reason, "message": message, "type": kind,
        "source": {"component": "tester"}, "count": 1,
        "firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": "2020-01-01T00:00:00Z", **more}


def crd(group, plural, kind, schema, scope="Namespaced", **version):
    """A CRD with one version, v1, whose spec and status have the schemas given."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": meta(f"{plural}.{group}"),
        "spec": {
            "group": group, "scope": scope,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind,
                      "listKind": f"{kind}List"},
            "versions": [{
                "name": "v1", "served": True, "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": schema}},
                **version,
            }],
        },
    }


def name_of(thing):
    return thing["metadata"]["name"]
