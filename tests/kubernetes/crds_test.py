#!/usr/bin/env python3
"""Every CRD in deploy/crds is accepted by a real API server, and so is an example of each.

A CRD passes when `kubectl apply` takes it and the server reports it Established with a structural
schema. An example (deploy/crds/examples/*.yaml) passes when it is created under strict validation,
that is, with no field that the schema does not know, and its kind is served by one of the CRDs.
"""

import argparse
import json
import pathlib
import sys

import yaml

from cluster import REPOSITORY, Cluster, ClusterError, exit_on_sigterm
from report import Report

RESERVATIONS = "scheduling.koordinator.sh"


def apply_crd(cluster, path):
    applied = cluster.kubectl("apply", "-f", path, "-o", "name").stdout.split()
    for name in applied:
        cluster.kubectl("wait", "--for=condition=Established", "--timeout=180s", name)
        crd = json.loads(cluster.kubectl("get", name, "-o", "json").stdout)
        for condition in crd["status"]["conditions"]:
            if condition["type"] == "NonStructuralSchema" and condition["status"] == "True":
                raise ClusterError(f"{name}: {condition['message']}")


def create_example(cluster, path, kinds, seen):
    for created in created_objects(cluster, path):
        kind = kind_of(created)
        if kind not in kinds:
            raise ClusterError(f"{kind} is not among the CRDs")
        seen.add(kind)


def created_objects(cluster, path):
    created = json.loads(
        cluster.kubectl("create", "--validate=strict", "-f", path, "-o", "json").stdout)
    return created["items"] if created["kind"] == "List" else [created]


def kind_of(thing):
    return f"{thing['kind']}.{thing['apiVersion'].partition('/')[0]}"


def served_versions(cluster, group):
    """The preferred one first."""
    served = cluster.read(f"/apis/{group}")
    preferred = served["preferredVersion"]["version"]
    others = [each["version"] for each in served["versions"] if each["version"] != preferred]
    return [preferred, *others]


def serve_reservations_as_v1(cluster, crds):
    """By the component that users add: what is written in the short form is read by both names."""
    if served_versions(cluster, RESERVATIONS) != ["v1alpha1"]:
        raise ClusterError("v1 is served although nobody has asked for it")
    name = f"reservations.{RESERVATIONS}"
    component = crds / "reservation-v1"
    patch = yaml.safe_load((component / "patch.yaml").read_text())
    cluster.kubectl("patch", "crd", name, "--type=json", "-p", json.dumps(patch))
    cluster.wait("v1", lambda: served_versions(cluster, RESERVATIONS) == ["v1", "v1alpha1"], 180)
    for created in created_objects(cluster, component / "example.yaml"):
        path = f"/apis/{RESERVATIONS}/v1alpha1/reservations/{created['metadata']['name']}"
        if cluster.read(path)["spec"]["resources"] != created["spec"]["resources"]:
            raise ClusterError(f"{path} has lost its short form")


def served_kinds(cluster):
    crds = json.loads(cluster.kubectl("get", "customresourcedefinitions", "-o", "json").stdout)
    specs = [crd["spec"] for crd in crds["items"]]
    return {f"{spec['names']['kind']}.{spec['group']}" for spec in specs}


def run(crds, report):
    files = sorted(crds.glob("*.yaml"))
    examples = sorted((crds / "examples").glob("*.yaml"))
    if not files:
        raise ClusterError(f"no CRDs in {crds}")
    with Cluster() as cluster:
        for path in files:
            report.run(apply_crd, cluster, path, name=path.name)
        kinds, seen = served_kinds(cluster), set()
        for path in examples:
            report.run(create_example, cluster, path, kinds, seen, name=f"examples/{path.name}")
        report.run(serve_reservations_as_v1, cluster, crds)
        for kind in sorted(kinds - seen):
            report.skip(kind, "there is no example of it")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "crds", nargs="?", type=pathlib.Path, default=REPOSITORY / "deploy" / "crds",
        help="the folder of CRDs, default deploy/crds")
    options = parser.parse_args()
    exit_on_sigterm()
    report = Report()
    run(options.crds, report)
    return report.end()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ClusterError as error:
        sys.exit(f"crds_test.py: {error}")
