"""Custom resources: kinds that a user defines at run time."""

import copy
import re

from harness.api import kind_path, register_kind
from harness.check import ABSENT, expect
from harness.objects import crd
from harness.registry import test
from harness.suite import install_crd
from harness.widgets import GROUP, RESOURCE, definition, widget


def stored(t, thing, **query):
    path = kind_path("Widget", t.namespace)
    return t.api.request("POST", path, thing, query=query).has_status(201)


@test
def the_definition_is_established(t):
    t.widgets()
    t.kubectl("get", "crd", RESOURCE).prints(f"""
        NAME  CREATED AT
        {RESOURCE}  <<TIME>>
    """)
    made = t.get("CustomResourceDefinition", RESOURCE)
    expect(made, {
        "metadata": {"generation": 1},
        "spec": {"conversion": {"strategy": "None"}},
        "status": {"storedVersions": ["v1"],
                   "acceptedNames": {"kind": "Widget", "listKind": "WidgetList",
                                     "plural": "widgets", "singular": "widget",
                                     "shortNames": ["wd"]}}})
    conditions = {c["type"]: c for c in made["status"]["conditions"]}
    expect(conditions, {
        "NamesAccepted": {"status": "True", "reason": "NoConflicts",
                          "message": "no conflicts found"},
        "Established": {"status": "True", "reason": "InitialNamesAccepted",
                        "message": "the initial names have been accepted"}})


@test
def printer_columns(t):
    t.widgets()
    t.create(widget("a", mode="a", note="hello"), widget("b", replicas=3))
    t.set_status("Widget", "a", {"phase": "Ready"})
    t.kubectl("get", "widgets").prints("""
        NAME  MODE  REPLICAS  PHASE  AGE
        a  a  1  Ready  <<AGE>>
        b  3  <<AGE>>
    """)
    t.kubectl("get", "wd", "a", "-o", "wide").prints("""
        NAME  MODE  REPLICAS  PHASE  NOTE  AGE
        a  a  1  Ready  hello  <<AGE>>
    """)


@test
def names(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    for alias in ("widget", "widgets", "wd", RESOURCE, f"widgets.v1.{GROUP}"):
        t.kubectl("get", alias, "-o", "name").prints(f"widget.{GROUP}/w")


@test
def defaults_and_pruning(t):
    t.widgets()
    answer = stored(t, widget("w", mode="a", foo=1, ports=[{"name": "p", "bar": 2}],
                              settings={"any": {"thing": [1]}}, limits={"cpu": 1, "mem": "2Gi"}))
    expect(answer.json()["spec"], {
        "replicas": 1, "mode": "a", "foo": ABSENT, "settings": {"any": {"thing": [1]}},
        "ports": [{"name": "p", "protocol": "TCP", "bar": ABSENT}],
        "limits": {"cpu": 1, "mem": "2Gi"}})
    assert answer.warnings() == ['unknown field "spec.foo"', 'unknown field "spec.ports[0].bar"'], (
        answer.warnings())
    t.api.request("POST", kind_path("Widget", t.namespace), widget("x", foo=1),
                  query={"fieldValidation": "Strict"}).rejects(
        400, 'Widget in version "v1" cannot be handled as a Widget: strict decoding error: '
        'unknown field "spec.foo"', "BadRequest")


@test
def nulls(t):
    """A null is dropped, or becomes the default, unless the schema allows it."""
    t.widgets()
    made = stored(t, widget("w", replicas=None, mode=None, note=None)).json()
    expect(made["spec"], {"replicas": 1, "mode": ABSENT, "note": None})


@test
def the_schema_is_enforced(t):
    t.widgets()
    for spec, message in (
            ({"mode": "z"}, 'spec.mode: Unsupported value: "z": supported values: "a", "b"'),
            ({"replicas": 11}, "spec.replicas: Invalid value: 11: spec.replicas in body should be "
                               "less than or equal to 10"),
            ({"tags": "x"}, 'spec.tags: Invalid value: "string": spec.tags in body must be of type '
                            'array: "string"'),
            ({"size": "big"}, 'spec.size: Invalid value: "big": spec.size in body should match '
                              "'^[0-9]+(Mi|Gi)$'"),
            ({"tags": ["x", "x"]}, 'spec.tags[1]: Duplicate value: "x"'),
            ({"ports": [{"port": 1}]}, "spec.ports[0].name: Required value"),
            ({"ports": [{"name": "p"}, {"name": "p"}]},
             'spec.ports[1]: Duplicate value: {"name":"p"}'),
            ({"ports": [{"name": n} for n in "abcd"]},
             "spec.ports: Too many: 4: must have at most 3 items"),
    ):
        answer = t.kubectl_fails("create", "--validate=false", "-f", "-",
                                 input=widget("w", **spec))
        if f'The Widget "w" is invalid: {message}' not in answer.stderr.replace("\n* ", " "):
            answer.fail(message)


@test
def errors_name_all_fields(t):
    t.widgets()
    answer = t.kubectl_fails("create", "--validate=false", "-f", "-",
                             input=widget("w", mode="z", note=1))
    first, *others = answer.stderr.splitlines()
    if [first.strip(), *sorted(others)] != [
            'The Widget "w" is invalid:',
            '* spec.mode: Unsupported value: "z": supported values: "a", "b"',
            '* spec.note: Invalid value: "integer": spec.note in body must be of type string: '
            '"integer"']:
        answer.fail("an error for each field")


@test
def the_scale_subresource_guards_its_field(t):
    t.widgets()
    refused = t.kubectl_fails("create", "--validate=false", "-f", "-",
                              input=widget("w", replicas=-1))
    refused.mentions("* .spec.replicas: Invalid value: -1: should be a non-negative integer")


@test
def field_selectors(t):
    t.widgets()
    t.create(widget("a", mode="a"), widget("b", mode="b"))
    t.kubectl("get", "widgets", "--field-selector", "metadata.name=a", "-o", "name").prints(
        f"widget.{GROUP}/a")
    t.kubectl("get", "widgets", "--field-selector", "spec.mode=b", "-o", "name").prints(
        f"widget.{GROUP}/b")
    t.kubectl_fails("get", "widgets", "--field-selector", "spec.replicas=1").mentions(
        "field label not supported: spec.replicas")


@test
def generation_counts_changes_of_the_wish(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    for change, generation in (
            ({"metadata": {"labels": {"x": "1"}}}, 1), ({"spec": {"mode": "b"}}, 2),
            ({"spec": {"mode": "b"}}, 2), ({"spec": {"note": "n"}}, 3)):
        made = t.patch("Widget", "w", change)
        assert made["metadata"]["generation"] == generation, (change, made["metadata"])
    made = t.set_status("Widget", "w", {"phase": "Ready"})
    assert made["metadata"]["generation"] == 3, made["metadata"]


@test
def watch_as_a_table(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    watch = t.start_kubectl("get", "widgets", "-w")
    watch.wait_for("w a 1")
    t.patch("Widget", "w", {"spec": {"mode": "b", "replicas": 2}})
    watch.wait_for("w b 2")


@test
def a_cluster_scoped_kind(t):
    group = f"{t.namespace}.example.com"
    made = crd(group, "zones", "Zone", {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"}}}}, scope="Cluster")
    t.cleanup(t.api.delete, made)
    install_crd(t.api, made)
    t.kubectl("create", "-f", "-", input={
        "apiVersion": f"{group}/v1", "kind": "Zone", "metadata": {"name": "z"},
        "spec": {"size": 1}}).prints(f"zone.{group}/z created")
    t.kubectl("get", f"zones.{group}").prints("NAME  AGE\nz  <<AGE>>")


@test
def the_definition_can_change(t):
    """A new field and a new column are there for objects that are older."""
    group = f"{t.namespace}.example.com"
    made = crd(group, "gears", "Gear", {"spec": {"type": "object", "properties": {
        "teeth": {"type": "integer"}}}})
    t.cleanup(t.api.delete, made)
    install_crd(t.api, made)
    register_kind(f"Gear.{t.namespace}", f"{group}/v1", "gears", True)
    gear = {"apiVersion": f"{group}/v1", "kind": "Gear", "metadata": {"name": "g"},
            "spec": {"teeth": 8}}
    t.kubectl("create", "-f", "-", input=gear)
    changed = copy.deepcopy(made)
    version = changed["spec"]["versions"][0]
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["metal"] = {
        "type": "string", "default": "steel"}
    version["additionalPrinterColumns"] = [
        {"name": "Metal", "type": "string", "jsonPath": ".spec.metal"}]
    t.kubectl("apply", "-f", "-", input=changed)
    t.eventually(lambda: t.kubectl("get", f"gears.{group}").prints("NAME  METAL\ng  steel"))


@test
def several_versions(t):
    """Every served version shows every object; the apiVersion alone differs."""
    group = f"{t.namespace}.example.com"
    made = crd(group, "bolts", "Bolt", {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"}}}})
    beta = {**copy.deepcopy(made["spec"]["versions"][0]), "name": "v1beta1", "storage": False,
            "deprecated": True}
    made["spec"]["versions"].append(beta)
    t.cleanup(t.api.delete, made)
    install_crd(t.api, made)
    t.kubectl("create", "-f", "-", input={
        "apiVersion": f"{group}/v1", "kind": "Bolt", "metadata": {"name": "b"},
        "spec": {"size": 1}})
    t.eventually(lambda: t.try_kubectl(
        "get", f"bolts.v1beta1.{group}", "b", "-o", "jsonpath={.apiVersion} {.spec.size}"
        ).succeeds().prints(f"{group}/v1beta1 1"))
    t.kubectl("get", f"bolts.v1beta1.{group}").mentions(
        f"Warning: {group}/v1beta1 Bolt is deprecated")


@test
def bad_definitions_are_refused(t):
    group = f"{t.namespace}.example.com"
    good = crd(group, "nuts", "Nut", {"spec": {"type": "object"}})
    wrong_name = {**good, "metadata": {"name": f"others.{group}"}}
    t.kubectl_fails("create", "--validate=false", "-f", "-", input=wrong_name).mentions(
        f'metadata.name: Invalid value: "others.{group}": must be spec.names.plural+"."+spec.group')
    no_schema = copy.deepcopy(good)
    del no_schema["spec"]["versions"][0]["schema"]
    t.kubectl_fails("create", "--validate=false", "-f", "-", input=no_schema).mentions(
        "spec.versions[0].schema.openAPIV3Schema: Required value")
    two_stored = copy.deepcopy(good)
    two_stored["spec"]["versions"].append({**good["spec"]["versions"][0], "name": "v2"})
    t.kubectl_fails("create", "--validate=false", "-f", "-", input=two_stored).mentions(
        "must have exactly one version marked as storage version")
    not_structural = copy.deepcopy(good)
    not_structural["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {}
    t.kubectl_fails("create", "--validate=false", "-f", "-", input=not_structural).mentions(
        "properties[spec].type: Required value: must not be empty for specified object fields")


@test
def deleting_the_definition_deletes_the_objects(t):
    group = f"{t.namespace}.example.com"
    made = crd(group, "pins", "Pin", {"spec": {"type": "object"}})
    t.cleanup(t.api.delete, made)
    install_crd(t.api, made)
    t.kubectl("create", "-f", "-", input={
        "apiVersion": f"{group}/v1", "kind": "Pin", "metadata": {"name": "p"}})
    t.kubectl("delete", "crd", f"pins.{group}").contains(
        f'customresourcedefinition.apiextensions.k8s.io "pins.{group}" deleted')
    t.eventually(lambda: t.api.request("GET", f"/apis/{group}/v1/pins").status == 404)
    install_crd(t.api, made)
    t.kubectl("get", f"pins.{group}").complains(
        f"No resources found in {t.namespace} namespace.")


@test
def an_embedded_definition_survives_a_round_trip(t):
    """What kubectl reads it can apply again without a change."""
    t.widgets()

    def read_and_replaced():  # again where a controller has written its status meanwhile
        made = t.kubectl("get", "crd", RESOURCE, "-o", "json").json()
        expect(made["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
               definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        t.try_kubectl("replace", "-f", "-", input=made).succeeds().prints(
            f"customresourcedefinition.apiextensions.k8s.io/{RESOURCE} replaced")
        return made

    made = t.eventually(read_and_replaced)
    again = t.get("CustomResourceDefinition", RESOURCE)
    assert again["metadata"]["generation"] == made["metadata"]["generation"]
    assert re.match(r"^\d+$", again["metadata"]["resourceVersion"])
