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

from cluster import REPOSITORY, Cluster, ClusterError, exit_on_sigterm


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, test, *arguments):
        """Counts `test` as passed unless it raises ClusterError; tells whether it passed."""
        try:
            test(*arguments)
        except ClusterError as error:
            self.failed += 1
            print(f"FAIL {name}\n     {error}")
            return False
        self.passed += 1
        print(f"ok   {name}")
        return True


def apply_crd(cluster, path):
    applied = cluster.kubectl("apply", "-f", path, "-o", "name").stdout.split()
    for name in applied:
        cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", name)
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


def served_kinds(cluster):
    crds = json.loads(cluster.kubectl("get", "customresourcedefinitions", "-o", "json").stdout)
    specs = [crd["spec"] for crd in crds["items"]]
    return {f"{spec['names']['kind']}.{spec['group']}" for spec in specs}


def run(crds, report):
    files = sorted(crds.glob("*.yaml"))
    examples = sorted((crds / "examples").glob("*.yaml"))
    if not files:
        print(f"skip: no CRDs in {crds.name}/")
        return
    with Cluster() as cluster:
        for path in files:
            report.check(path.name, apply_crd, cluster, path)
        kinds, seen = served_kinds(cluster), set()
        for path in examples:
            report.check(f"examples/{path.name}", create_example, cluster, path, kinds, seen)
        for kind in sorted(kinds - seen):
            print(f"skip: no example of {kind}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "crds", nargs="?", type=pathlib.Path, default=REPOSITORY / "deploy" / "crds",
        help="the folder of CRDs, default deploy/crds")
    options = parser.parse_args()
    exit_on_sigterm()
    report = Report()
    try:
        run(options.crds, report)
    except ClusterError as error:
        report.failed += 1
        print(f"FAIL {error}")
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
