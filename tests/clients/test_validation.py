"""What is refused, in the words that users know, and what is only warned of."""

from harness.api import kind_path, object_path
from harness.check import expect
from harness.objects import budget, config_map, container, deployment, pod
from harness.registry import test


def refused(t, thing):
    """The error of `kubectl create` without its client-side checks."""
    return t.kubectl_fails("create", "--validate=false", "-f", "-", input=thing)


def creation(t, thing, **query):
    return t.api.request("POST", kind_path(thing["kind"], t.namespace), thing, query=query)


@test
def a_pod_that_lacks_what_it_needs(t):
    thing = pod("p")
    thing["spec"]["containers"] = []
    refused(t, thing).complains('The Pod "p" is invalid: spec.containers: Required value')
    refused(t, pod("p", containers=[{"name": "c"}])).complains(
        'The Pod "p" is invalid: spec.containers[0].image: Required value')
    refused(t, pod("p", containers=[container("A_b")])).mentions(
        'spec.containers[0].name: Invalid value: "A_b": a lowercase RFC 1123 label must consist of '
        "lower case alphanumeric characters or '-'")
    refused(t, pod("p", containers=[container("c"), container("c")])).complains(
        'The Pod "p" is invalid: spec.containers[1].name: Duplicate value: "c"')


@test
def several_errors_are_listed(t):
    refused(t, pod("p", containers=[{"name": "c"}], restartPolicy="Sometimes")).complains(
        'The Pod "p" is invalid:\n'
        "* spec.containers[0].image: Required value\n"
        '* spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", '
        '"OnFailure", "Never"')


@test
def resources_that_make_no_sense(t):
    def with_resources(**resources):
        return pod("p", containers=[container(resources=resources)])

    refused(t, with_resources(requests={"cpu": "2"}, limits={"cpu": "1"})).mentions(
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to '
        "cpu limit of 1")
    refused(t, with_resources(requests={"cpu": "-1"})).mentions(
        'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or '
        "equal to 0")
    refused(t, with_resources(requests={"example.com/gpu": "500m"},
                              limits={"example.com/gpu": "500m"})).mentions("must be an integer")
    refused(t, with_resources(limits={"cpu": "lots"})).mentions(
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    t.create(with_resources(requests={"kubernetes.io/batch-cpu": "1500"},
                            limits={"kubernetes.io/batch-cpu": "1500"}))


@test
def names_that_are_not_allowed(t):
    refused(t, config_map("Not_OK")).complains(
        'The ConfigMap "Not_OK" is invalid: metadata.name: Invalid value: "Not_OK": a lowercase '
        "RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
        "must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
        "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
    thing = config_map("x")
    del thing["metadata"]["name"]
    creation(t, thing).rejects(
        422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is '
        "required", "Invalid")
    refused(t, config_map("x", labels={"a": "not ok"})).mentions(
        'metadata.labels: Invalid value: "not ok": a valid label must be an empty string or '
        "consist of alphanumeric characters, '-', '_' or '.'")
    refused(t, config_map("x", labels={"-a": "b"})).mentions(
        'metadata.labels: Invalid value: "-a": name part must consist of')


@test
def a_program_gets_causes(t):
    thing = pod("p", containers=[{"name": "c"}], restartPolicy="Sometimes")
    status = creation(t, thing).rejects(422, reason="Invalid")
    expect(status["details"], {"name": "p", "kind": "Pod", "causes": [
        {"reason": "FieldValueRequired", "message": "Required value",
         "field": "spec.containers[0].image"},
        {"reason": "FieldValueNotSupported", "field": "spec.restartPolicy"}]})


@test
def priorities(t):
    refused(t, pod("p", priorityClassName="none")).complains(
        'Error from server (Forbidden): error when creating "STDIN": pods "p" is forbidden: no '
        "PriorityClass with name none was found")
    t.create(pod("p", priorityClassName="system-node-critical"))
    expect(t.get("Pod", "p")["spec"], {"priority": 2000001000})


@test
def a_deployment_that_selects_nothing_of_its_own(t):
    thing = deployment("d")
    thing["spec"]["selector"]["matchLabels"] = {"app": "other"}
    refused(t, thing).complains(
        'The Deployment "d" is invalid: spec.template.metadata.labels: Invalid value: '
        '{"app":"d"}: `selector` does not match template `labels`')


@test
def a_budget_with_two_rules(t):
    refused(t, budget("b", {"app": "x"}, minAvailable=1, maxUnavailable=1)).mentions(
        "minAvailable and maxUnavailable cannot be both set")


@test
def objects_that_must_not_change(t):
    t.create({**config_map("a", {"x": "1"}), "immutable": True})
    t.kubectl_fails("patch", "cm", "a", "--type=merge", "-p", '{"data":{"x":"2"}}').complains(
        'The ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set')
    name = t.name("p")
    t.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
              "metadata": {"name": name}, "value": 7})
    t.kubectl_fails("patch", "priorityclass", name, "--type=merge", "-p", '{"value":8}').mentions(
        "value: Forbidden: may not be changed in an update.")


@test
def names_and_namespaces_must_agree(t):
    made = t.create(config_map("a"))
    other = {**made, "metadata": {**made["metadata"], "name": "b"}}
    t.api.request("PUT", object_path(made), other).rejects(
        400, "the name of the object (b) does not match the name on the URL (a)", "BadRequest")
    elsewhere = config_map("c", namespace="default")
    t.api.request("POST", kind_path("ConfigMap", t.namespace), elsewhere).rejects(
        400, "the namespace of the provided object does not match the namespace sent on the "
        "request", "BadRequest")
    t.kubectl_fails("create", "-f", "-", input=elsewhere).mentions(
        "the namespace from the provided object \"default\" does not match the namespace "
        f'"{t.namespace}". You must pass \'--namespace=default\' to perform this operation.')


@test
def a_namespace_where_none_belongs_is_dropped(t):
    name = t.name("n")
    t.cleanup(t.api.delete, {"kind": "Node", "metadata": {"name": name}})
    thing = {"apiVersion": "v1", "kind": "Node",
             "metadata": {"name": name, "namespace": t.namespace}}
    made = t.api.request("POST", kind_path("Node"), thing).has_status(201).json()
    assert "namespace" not in made["metadata"], made


@test
def a_missing_namespace(t):
    t.kubectl_fails("create", "-n", "no-such", "-f", "-", input=config_map("a")).complains(
        'Error from server (NotFound): error when creating "STDIN": namespaces "no-such" not found')


@test
def unknown_fields_are_dropped_and_warned_of(t):
    thing = pod("p", nonsense=1)
    thing["spec"]["containers"][0]["imagePullPolcy"] = "Never"
    answer = creation(t, thing).has_status(201)
    assert answer.warnings() == ['unknown field "spec.containers[0].imagePullPolcy"',
                                 'unknown field "spec.nonsense"'], answer.warnings()
    assert "nonsense" not in answer.json()["spec"]
    answer = creation(t, {**thing, "metadata": {"name": "q"}}, fieldValidation="Ignore")
    assert answer.has_status(201).warnings() == []


@test
def unknown_fields_are_refused_on_request(t):
    thing = pod("p", nonsense=1)
    creation(t, thing, fieldValidation="Strict").rejects(
        400, 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field '
        '"spec.nonsense"', "BadRequest")
    creation(t, thing, fieldValidation="Perhaps").rejects(422, reason="Invalid")
    assert not t.exists("Pod", "p")


@test
def kubectl_refuses_unknown_fields(t):
    """The old one by the schema that it has read, the new one by asking the server to."""
    thing = pod("p", nonsense=1)
    old = ('error: error validating "STDIN": error validating data: ValidationError(Pod.spec): '
           'unknown field "nonsense" in io.k8s.api.core.v1.PodSpec; if you choose to ignore these '
           "errors, turn validation off with --validate=false")
    new = ('Error from server (BadRequest): error when creating "STDIN": Pod in version "v1" '
           'cannot be handled as a Pod: strict decoding error: unknown field "spec.nonsense"')
    t.kubectl_fails("create", "-f", "-", input=thing).complains(old if t.minor < 25 else new)
    if t.minor >= 25:
        t.kubectl("create", "--validate=warn", "-f", "-", input=thing).complains(
            'Warning: unknown field "spec.nonsense"')
    else:
        t.kubectl("create", "--validate=false", "-f", "-", input=thing).mentions(
            'unknown field "spec.nonsense"')


@test
def wrong_types_are_refused(t):
    thing = config_map("a")
    thing["data"] = {"x": 1}
    t.kubectl_fails("create", "-f", "-", input=thing).mentions(
        'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" '
        "cannot be handled as a ConfigMap: <<.*>>ConfigMap.data")
    thing = pod("p", terminationGracePeriodSeconds="soon")
    t.kubectl_fails("create", "-f", "-", input=thing).mentions(
        "ValidationError(Pod.spec.terminationGracePeriodSeconds): invalid type for "
        'io.k8s.api.core.v1.PodSpec.terminationGracePeriodSeconds: got "string", expected "integer"'
        if t.minor < 25 else 'Pod in version "v1" cannot be handled as a Pod: '
        "<<.*>>spec.terminationGracePeriodSeconds")


@test
def unreadable_bodies(t):
    path = kind_path("ConfigMap", t.namespace)
    for body in (b"{", b"[]", b'"x"', b"\xff\xfe"):
        t.api.request("POST", path, body).rejects(400, reason="BadRequest")
    t.api.request("POST", path, b"a,b", "text/csv").rejects(415, reason="UnsupportedMediaType")
    t.api.request("POST", path, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}
                  ).rejects(400, reason="BadRequest")
    t.api.request("POST", path, b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
                  "application/yaml").has_status(201)


@test
def a_body_that_is_too_large(t):
    thing = config_map("a", {"x": "x" * (3 * 1024 * 1024)})
    t.api.request("POST", kind_path("ConfigMap", t.namespace), thing).rejects(
        413, reason="RequestEntityTooLarge")
    large = config_map("a", {"x": "x" * (1024 * 1024 + 1)})
    t.api.request("POST", kind_path("ConfigMap", t.namespace), large).rejects(
        422, reason="Invalid")


@test
def list_options_that_contradict(t):
    path = kind_path("Pod", t.namespace)
    for query, text in {
            "resourceVersionMatch=Exact":
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                "resourceVersion is provided",
            "sendInitialEvents=true":
                "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
            "watch=1&sendInitialEvents=true":
                "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                "resourceVersionMatch to NotOlderThan",
    }.items():
        status = t.api.request("GET", f"{path}?{query}").rejects(422, reason="Invalid")
        assert text in status["message"], status["message"]
    t.api.request("GET", f"{path}?limit=x").has_status(400)
    t.api.request("GET", f"{path}?continue=nonsense").rejects(400, reason="BadRequest")


@test
def creation_with_what_the_server_sets(t):
    thing = config_map("a", resourceVersion="5")
    assert creation(t, thing).has_status(500).json()["message"] == (
        "resourceVersion should not be set on objects to be created")
    made = creation(t, config_map("b", uid="x", creationTimestamp="2020-01-01T00:00:00Z",
                                  generation=7)).has_status(201).json()
    assert made["metadata"]["uid"] != "x", made
    assert made["metadata"]["creationTimestamp"] != "2020-01-01T00:00:00Z", made
