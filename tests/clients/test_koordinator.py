"""Koordinator's own kinds: its examples are accepted, shown and explained."""

import yaml

from harness.check import expect
from harness.registry import test
from harness.suite import KOORDINATOR_CRDS


def definitions():
    found = [yaml.safe_load(path.read_text()) for path in sorted(KOORDINATOR_CRDS.glob("*.yaml"))]
    assert found, f"no CRDs in {KOORDINATOR_CRDS}"
    return found


def examples(t):
    """Each with a name of this test's, in its namespace where it has one."""
    scopes = {crd["spec"]["names"]["kind"]: crd["spec"]["scope"] for crd in definitions()}
    for path in sorted((KOORDINATOR_CRDS / "examples").glob("*.yaml")):
        # kubectl, unlike Python, reads 0000:08:00.0 as the text that it is meant to be.
        example = t.kubectl("create", "--dry-run=client", "-n", "default", "-o", "json", "-f",
                            path).json()
        example["metadata"].pop("namespace", None)
        example["metadata"]["name"] = t.name(path.stem)
        if scopes[example["kind"]] == "Namespaced":
            example["metadata"]["namespace"] = t.namespace
        yield example


def resource(crd, version):
    return f"{crd['spec']['names']['plural']}.{version}.{crd['spec']['group']}"


def create_all(t):
    made = list(examples(t))
    for example in made:
        if "namespace" not in example["metadata"]:
            t.cleanup(t.kubectl, "delete", "--ignore-not-found", "-f",
                      t.file(f"{example['metadata']['name']}.json", example))
        t.kubectl("create", "-f", "-", input=example)
    return made


@test
def examples_are_stored_as_written(t):
    t.koordinator_kinds()
    for example in create_all(t):
        example.pop("status", None)  # creation does not take it
        name = t.file(f"{example['metadata']['name']}.json", example)
        stored = t.kubectl("get", "-f", name, "-o", "json").json()
        expect(stored, example, f"the stored {example['kind']}")


@test
def tables_have_the_declared_columns(t):
    t.koordinator_kinds()
    made = create_all(t)
    for crd in definitions():
        for version in crd["spec"]["versions"]:
            columns = version.get("additionalPrinterColumns", [{"name": "Age"}])
            shown = [c["name"].upper() for c in columns if c.get("priority", 0) == 0]
            names = [e["metadata"]["name"] for e in made
                     if e["kind"] == crd["spec"]["names"]["kind"]]
            table = t.kubectl("get", resource(crd, version["name"]), names[0])
            table.contains("  ".join(["NAME", *shown]), names[0])


@test
def kinds_are_explained(t):
    t.koordinator_kinds()
    for crd in definitions():
        names, group = crd["spec"]["names"], crd["spec"]["group"]
        version = next(v["name"] for v in crd["spec"]["versions"] if v["storage"])
        t.eventually(lambda: t.try_kubectl(
            "explain", names["plural"], f"--api-version={group}/{version}").succeeds().contains(
                f"KIND: <<\\s+>>{names['kind']}"))


@test(only_on={"koord": "elsewhere v1 is there on request only"})
def reservations_have_a_short_form(t):
    component = KOORDINATOR_CRDS / "reservation-v1"
    example = yaml.safe_load((component / "example.yaml").read_text())
    example["metadata"]["name"] = t.name("short")
    t.cleanup(t.kubectl, "delete", "reservation", "--ignore-not-found", t.name("short"))
    t.kubectl("create", "-f", "-", input=example)
    for version in ("v1", "v1alpha1"):
        stored = t.kubectl("get", f"reservations.{version}.scheduling.koordinator.sh",
                           t.name("short"), "-o", "json").json()
        expect(stored["spec"], example["spec"], f"the reservation as {version}")


@test
def fields_are_described(t):
    t.koordinator_kinds()
    t.eventually(lambda: t.try_kubectl(
        "explain", "nodeslos.spec.resourceUsedThresholdWithBE.cpuSuppressThresholdPercent",
        "--api-version=slo.koordinator.sh/v1alpha1").succeeds().contains("65 where absent"))


@test(only_on={"koord": "the local cluster installs them itself"})
def the_local_cluster_has_them_all(t):
    t.kubectl("get", "crd", *(crd["metadata"]["name"] for crd in definitions()), "-o", "name")
