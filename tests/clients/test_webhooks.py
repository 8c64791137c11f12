"""Admission webhooks, called over HTTPS."""

import base64
import re
import threading

from harness.api import MERGE_PATCH, kind_path
from harness.check import ABSENT, expect
from harness.objects import config_map, pod
from harness.registry import test
from harness.webhook import allow, deny, patch
from harness.widgets import GROUP, widget

DOMAIN = "clients.example.com"
NOBODY = "https://127.0.0.1:1/nobody-listens-here"


def path(t, name):
    return f"/{t.namespace}/{name}"


def webhook(t, name, function=None, resources="configmaps", operations=("CREATE",), group="",
            url=None, **more):
    """An entry of a configuration, for the test's namespace; `function` answers its calls."""
    if function:
        t.webhooks.serve(path(t, name), function)
    return {
        "name": f"{name}.{DOMAIN}", "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "clientConfig": {"url": url or t.webhooks.url(path(t, name)),
                         "caBundle": t.webhooks.ca_bundle},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": t.namespace}},
        "rules": [{"apiGroups": [group], "apiVersions": ["v1"], "operations": list(operations),
                   "resources": [resources]}],
        **more}


def install(t, kind, *webhooks, suffix="w"):
    """Creates the configuration and returns once the server acts by it."""
    probe = f"probe-{suffix}"
    ready = webhook(t, probe, lambda request: allow(), resources="secrets")
    t.create({"apiVersion": "admissionregistration.k8s.io/v1",
              "kind": f"{kind}WebhookConfiguration", "metadata": {"name": t.name(suffix)},
              "webhooks": [*webhooks, ready]})

    def acts():
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "probe"}}
        t.api.request("POST", kind_path("Secret", t.namespace), secret, query={"dryRun": "All"})
        return t.webhooks.reviews(path(t, probe))

    t.eventually(acts, "the webhooks to be called")


def reviews(t, name):
    return [review["request"] for review in t.webhooks.reviews(path(t, name))]


def add_label(key, value):
    def answer(request):
        if "labels" in request["object"]["metadata"]:
            return patch({"op": "add", "path": f"/metadata/labels/{key}", "value": value})
        return patch({"op": "add", "path": "/metadata/labels", "value": {key: value}})
    return answer


@test
def a_mutating_webhook_changes_the_object(t):
    install(t, "Mutating", webhook(t, "label", add_label("added", "yes")))
    t.kubectl("create", "-f", "-", "-o", "json", input=config_map("a", {"x": "1"})).holds(
        {"metadata": {"labels": {"added": "yes"}}, "data": {"x": "1"}})
    expect(t.get("ConfigMap", "a")["metadata"]["labels"], {"added": "yes"})


@test
def what_a_webhook_is_told(t):
    install(t, "Validating", webhook(t, "see", lambda request: allow(), timeoutSeconds=7))
    t.kubectl("create", "-f", "-", input=config_map("a", {"x": "1"}))
    review, = t.webhooks.reviews(path(t, "see"))
    expect(review, {
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "query": "timeout=7s",
        "response": ABSENT,
        "request": {
            "uid": re.compile("^[0-9a-f-]{36}$"),
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "requestKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "requestResource": {"group": "", "version": "v1", "resource": "configmaps"},
            "name": "a", "namespace": t.namespace, "operation": "CREATE", "dryRun": False,
            "userInfo": {"username": lambda name: bool(name),
                         "groups": lambda groups: "system:authenticated" in groups},
            "object": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "1"},
                       "metadata": {"name": "a", "namespace": t.namespace}},
            "oldObject": None, "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        }})


@test
def updates_and_deletions(t):
    install(t, "Validating", webhook(t, "see", lambda request: allow(),
                                     operations=["UPDATE", "DELETE"]))
    t.create(config_map("a", {"x": "1"}))
    t.kubectl("patch", "cm", "a", "--type=merge", "-p", '{"data":{"x":"2"}}')
    t.kubectl("delete", "cm", "a")
    update, deletion = reviews(t, "see")
    expect(update, {"operation": "UPDATE", "object": {"data": {"x": "2"}},
                    "oldObject": {"data": {"x": "1"}},
                    "options": {"kind": lambda kind: kind in ("PatchOptions", "UpdateOptions")}})
    expect(deletion, {"operation": "DELETE", "object": None, "oldObject": {"data": {"x": "2"}},
                      "name": "a", "options": {"kind": "DeleteOptions"}})


@test
def evictions_and_bindings(t):
    """Of what follows from such a request, the webhook is not told."""
    t.create(pod("a"))
    install(t, "Validating", webhook(t, "see", lambda request: allow(), resources="pods/*",
                                     operations=["*"]))
    t.api.request("POST", kind_path("Pod", t.namespace, "a", "binding"), {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"},
        "target": {"kind": "Node", "name": "nowhere"}}).has_status(201)
    t.api.request("POST", kind_path("Pod", t.namespace, "a", "eviction"), {
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"},
        "deleteOptions": {"gracePeriodSeconds": 0}}).has_status(201)
    # Controllers may have something to say about the pod, too, but only of its status.
    seen = [r for r in reviews(t, "see") if r.get("subResource") != "status"]
    binding, eviction = seen
    pods = {"group": "", "version": "v1", "resource": "pods"}
    expect(binding, {"operation": "CREATE", "resource": pods, "subResource": "binding", "name": "a",
                     "kind": {"group": "", "version": "v1", "kind": "Binding"},
                     "object": {"kind": "Binding", "target": {"name": "nowhere"}}})
    expect(eviction, {"operation": "CREATE", "resource": pods, "subResource": "eviction",
                      "name": "a", "namespace": t.namespace, "oldObject": None,
                      "kind": {"group": "policy", "version": "v1", "kind": "Eviction"},
                      "object": {"apiVersion": "policy/v1", "kind": "Eviction",
                                 "deleteOptions": {"gracePeriodSeconds": 0}}})


@test
def a_denial(t):
    install(t, "Validating", webhook(t, "no", lambda request: deny("not today")))
    t.kubectl_fails("create", "-f", "-", input=config_map("a")).complains(
        f'Error from server: error when creating "STDIN": admission webhook "no.{DOMAIN}" denied '
        "the request: not today")
    answer = t.api.try_create(config_map("a", namespace=t.namespace))
    answer.rejects(400, f'admission webhook "no.{DOMAIN}" denied the request: not today')
    assert not t.exists("ConfigMap", "a")


@test
def denials_with_a_code_or_without_words(t):
    answers = {"code": deny("too many", code=403, reason="Forbidden"), "none": deny(),
               "reason": deny(reason="Because")}
    install(t, "Validating", webhook(
        t, "no", lambda request: answers.get(request["name"], allow())))
    t.kubectl_fails("create", "-f", "-", input=config_map("code")).complains(
        f'Error from server (Forbidden): error when creating "STDIN": admission webhook '
        f'"no.{DOMAIN}" denied the request: too many')
    for name, text in (("none", " without explanation"), ("reason", ": Because")):
        t.api.try_create(config_map(name, namespace=t.namespace)).rejects(
            400, f'admission webhook "no.{DOMAIN}" denied the request{text}')
    t.create(config_map("other"))


@test
def a_webhook_that_cannot_be_reached(t):
    install(t, "Validating", webhook(t, "down", url=NOBODY, resources="configmaps"),
            webhook(t, "optional", url=NOBODY, resources="serviceaccounts",
                    failurePolicy="Ignore"))
    t.kubectl_fails("create", "-f", "-", input=config_map("a")).mentions(
        f'Error from server (InternalError): error when creating "STDIN": Internal error occurred: '
        f'failed calling webhook "down.{DOMAIN}": failed to call webhook: <<.*refused.*>>')
    t.kubectl("create", "serviceaccount", "s").prints("serviceaccount/s created")


@test
def a_webhook_that_takes_too_long(t):
    done = threading.Event()
    t.cleanup(done.set)

    def slow(request):
        done.wait(300)
        return allow()

    install(t, "Validating", webhook(t, "slow", slow, timeoutSeconds=1),
            webhook(t, "optional", slow, resources="serviceaccounts", timeoutSeconds=1,
                    failurePolicy="Ignore"))
    t.kubectl_fails("create", "-f", "-", input=config_map("a")).mentions(
        f'failed calling webhook "slow.{DOMAIN}": failed to call webhook: <<.*(deadline|time).*>>')
    t.kubectl("create", "serviceaccount", "s").prints("serviceaccount/s created")


@test
def answers_that_make_no_sense(t):
    other = ('{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",'
             '"response":{"uid":"other","allowed":true}}')
    bodies = {"status": 500, "text": b"hello", "uid": other.encode(), "empty": b"{}",
              "no-type": {"allowed": True, "patch": base64.b64encode(b"[]").decode()}}
    install(t, "Mutating", webhook(t, "odd", lambda request: bodies[request["name"]]))
    for name in bodies:
        status = t.api.try_create(config_map(name, namespace=t.namespace)).rejects(
            500, reason="InternalError")
        assert f'failed calling webhook "odd.{DOMAIN}"' in status["message"], (name, status)


@test
def a_patch_that_does_not_apply(t):
    install(t, "Mutating", webhook(t, "bad", lambda request: patch(
        {"op": "remove", "path": "/data/none"})))
    t.api.try_create(config_map("a", {"x": "1"}, namespace=t.namespace)).rejects(
        500, reason="InternalError")


@test
def a_webhook_moves_nothing_to_another_namespace(t):
    move = patch({"op": "replace", "path": "/metadata/namespace", "value": "kube-system"})
    install(t, "Mutating", webhook(
        t, "move", lambda request: move, operations=("CREATE", "UPDATE"),
        objectSelector={"matchLabels": {"move": "yes"}}))
    elsewhere = "the namespace of the provided object does not match the namespace sent on the request"
    t.api.try_create(config_map(t.name("a"), labels={"move": "yes"}, namespace=t.namespace)).rejects(
        400, elsewhere, "BadRequest")
    t.create(config_map("b"))
    t.api.request("PATCH", kind_path("ConfigMap", t.namespace, "b"), {
        "metadata": {"labels": {"move": "yes"}}}, content_type=MERGE_PATCH).rejects(
            400, elsewhere, "BadRequest")
    assert not t.api.exists("ConfigMap", t.name("a"), "kube-system")


@test
def a_webhook_names_new_objects_only(t):
    """Before an object is stored its name may change; afterwards it is what the object is known by."""
    rename = patch({"op": "replace", "path": "/metadata/name", "value": "other"})
    install(t, "Mutating", webhook(
        t, "rename", lambda request: rename, operations=("CREATE", "UPDATE"),
        objectSelector={"matchLabels": {"rename": "yes"}}))
    t.create(config_map("old"))
    t.api.request("PATCH", kind_path("ConfigMap", t.namespace, "old"), {
        "metadata": {"labels": {"rename": "yes"}}}, content_type=MERGE_PATCH).rejects(
            422, reason="Invalid")
    assert not t.exists("ConfigMap", "other")
    t.api.try_create(config_map("new", {"x": "1"}, labels={"rename": "yes"},
                                namespace=t.namespace)).has_status(201)
    assert not t.exists("ConfigMap", "new")
    expect(t.get("ConfigMap", "other"), {"metadata": {"name": "other"}, "data": {"x": "1"}})


@test
def a_certificate_of_another_authority(t):
    entry = webhook(t, "strange", lambda request: allow())
    entry["clientConfig"].pop("caBundle")
    install(t, "Validating", entry)
    t.kubectl_fails("create", "-f", "-", input=config_map("a")).mentions(
        f'failed calling webhook "strange.{DOMAIN}": failed to call webhook: <<.*certificate.*>>')
    expect(reviews(t, "strange"), [])


@test
def only_selected_objects(t):
    install(t, "Validating",
            webhook(t, "picky", lambda request: deny("no"),
                    objectSelector={"matchLabels": {"guard": "on"}}),
            webhook(t, "elsewhere", lambda request: deny("no"),
                    namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "other"}}))
    t.kubectl("create", "-f", "-", input=config_map("a"))
    t.kubectl_fails("create", "-f", "-", input=config_map("b", labels={"guard": "on"}))
    assert [r["name"] for r in reviews(t, "picky")] == ["b"]
    assert reviews(t, "elsewhere") == []


@test
def the_old_labels_count_too(t):
    """A webhook that guards labelled objects also guards against taking the label away."""
    install(t, "Validating", webhook(
        t, "guard", lambda request: deny("keep it"), operations=["UPDATE"],
        objectSelector={"matchLabels": {"guard": "on"}}))
    t.create(config_map("a", labels={"guard": "on"}))
    t.kubectl_fails("label", "cm", "a", "guard-").mentions("denied the request: keep it")


@test
def mutating_come_first_and_in_order(t):
    seen = []

    def append(letter):
        def answer(request):
            seen.append(letter)
            return patch({"op": "add", "path": f"/data/{letter}",
                          "value": "".join(sorted(request["object"]["data"]))})
        return answer

    install(t, "Mutating", webhook(t, "c", append("c")), suffix="w2")
    install(t, "Mutating", webhook(t, "a", append("a")), webhook(t, "b", append("b")), suffix="w1")
    install(t, "Validating", webhook(t, "check", lambda request: allow()), suffix="w0")
    t.create(config_map("x", {"x": "1"}))
    assert seen == ["a", "b", "c"], seen
    expect(t.get("ConfigMap", "x")["data"], {"x": "1", "a": "x", "b": "ax", "c": "abx"})
    request, = reviews(t, "check")
    expect(request["object"]["data"], {"x": "1", "a": "x", "b": "ax", "c": "abx"})


@test
def reinvocation(t):
    """One that asks for it is called again after a later one changed the object, once."""
    install(t, "Mutating",
            webhook(t, "again", add_label("first", "1"), reinvocationPolicy="IfNeeded"),
            webhook(t, "never", lambda request: allow()),
            webhook(t, "later", add_label("second", "2")))
    t.create(config_map("a"))
    assert len(reviews(t, "again")) == 2
    assert len(reviews(t, "never")) == 1
    expect(reviews(t, "again")[1]["object"]["metadata"]["labels"], {"first": "1", "second": "2"})


@test
def no_reinvocation_without_change(t):
    install(t, "Mutating",
            webhook(t, "again", add_label("first", "1"), reinvocationPolicy="IfNeeded"),
            webhook(t, "later", lambda request: allow()))
    t.create(config_map("a"))
    assert len(reviews(t, "again")) == 1


@test
def a_dry_run_says_so(t):
    install(t, "Validating", webhook(t, "see", lambda request: allow()))
    t.kubectl("create", "--dry-run=server", "-f", "-", input=config_map("a"))
    request, = reviews(t, "see")
    expect(request, {"dryRun": True, "options": {"dryRun": ["All"]}})


@test
def dry_run_is_only_for_webhooks_without_side_effects(t):
    refused = t.api.try_create({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": t.name("w")},
        "webhooks": [webhook(t, "see", lambda request: allow(), sideEffects="Some")]})
    status = refused.rejects(422, reason="Invalid")
    assert 'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", ' \
        '"NoneOnDryRun"' in status["message"], status


@test
def warnings_reach_the_user(t):
    install(t, "Validating", webhook(t, "warn", lambda request: allow(warnings=["mind the gap"])))
    t.kubectl("create", "-f", "-", input=config_map("a")).complains("Warning: mind the gap")


@test
def defaults_and_checks_follow_a_mutation(t):
    """What a webhook makes of a custom resource must still fit its schema."""
    t.widgets()
    answers = {"good": patch({"op": "remove", "path": "/spec/replicas"},
                             {"op": "add", "path": "/spec/nonsense", "value": 1}),
               "bad": patch({"op": "replace", "path": "/spec/mode", "value": "z"})}
    install(t, "Mutating", webhook(t, "change", lambda request: answers[request["name"]],
                                   resources="widgets", group=GROUP))
    t.create(widget("good", mode="a", replicas=5))
    expect(t.get("Widget", "good")["spec"], {"mode": "a", "replicas": 1, "nonsense": ABSENT})
    t.kubectl_fails("create", "-f", "-", input=widget("bad", mode="a")).mentions(
        'spec.mode: Unsupported value: "z": supported values: "a", "b"')


@test
def a_pod_is_seen_with_its_defaults(t):
    install(t, "Mutating", webhook(t, "batch", lambda request: patch(
        {"op": "add", "path": "/spec/containers/0/resources/limits",
         "value": {"kubernetes.io/batch-cpu": "1000"}}), resources="pods"))
    t.kubectl("create", "-f", "-", input=pod("p"))
    request, = reviews(t, "batch")
    expect(request["object"]["spec"], {"restartPolicy": "Always", "priority": 0,
                                       "containers": [{"resources": {}}]})
    expect(t.get("Pod", "p")["spec"]["containers"], [{"resources": {
        "limits": {"kubernetes.io/batch-cpu": "1k"},
        "requests": {"kubernetes.io/batch-cpu": "1k"}}}])


@test
def subresources_are_named_in_rules(t):
    install(t, "Validating",
            webhook(t, "plain", lambda request: allow(), resources="pods",
                    operations=["CREATE", "UPDATE"]),
            webhook(t, "status", lambda request: allow(), resources="pods/status",
                    operations=["UPDATE"]),
            webhook(t, "bind", lambda request: allow(), resources="pods/binding"))
    t.create(pod("p"))
    t.set_status("Pod", "p", {"phase": "Pending", "message": "m"})
    t.api.request("POST", kind_path("Pod", t.namespace, "p", "binding"), {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
        "target": {"kind": "Node", "name": "n"}}).has_status(201)
    assert [r["operation"] for r in reviews(t, "plain")] == ["CREATE"]
    expect(reviews(t, "status"), [{"subResource": "status", "name": "p",
                                   "resource": {"resource": "pods"}}])
    expect(reviews(t, "bind"), [{"subResource": "binding", "kind": {"kind": "Binding"}}])


@test
def generated_names_are_not_known_yet(t):
    install(t, "Validating", webhook(t, "see", lambda request: allow()))
    thing = {**config_map("x"), "metadata": {"generateName": "gen-"}}
    t.kubectl("create", "-f", "-", input=thing).prints("configmap/gen-<<SUFFIX>> created")
    request, = reviews(t, "see")
    expect(request["object"]["metadata"], {"generateName": "gen-"})


@test
def apply_and_delete_can_be_denied(t):
    install(t, "Validating", webhook(
        t, "guard", lambda request: deny("protected"), operations=["UPDATE", "DELETE"]))
    t.kubectl("apply", "-f", "-", input=config_map("a", {"x": "1"}))
    t.kubectl_fails("apply", "-f", "-", input=config_map("a", {"x": "2"})).mentions(
        "denied the request: protected")
    t.kubectl_fails("apply", "--server-side", "--force-conflicts", "-f", "-",
                    input=config_map("a", {"x": "2"})).mentions("denied the request: protected")
    t.kubectl_fails("delete", "cm", "a").mentions("denied the request: protected")


@test
def configurations_have_defaults(t):
    name = t.name("w")
    entry = webhook(t, "see", lambda request: allow())
    t.create({"apiVersion": "admissionregistration.k8s.io/v1", "kind":
              "ValidatingWebhookConfiguration", "metadata": {"name": name}, "webhooks": [entry]})
    t.kubectl("get", "validatingwebhookconfiguration", name).prints(
        f"NAME  WEBHOOKS  AGE\n{name}  1  <<AGE>>")
    expect(t.get("ValidatingWebhookConfiguration", name), {
        "metadata": {"generation": 1}, "webhooks": [{
            "failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": 10,
            "objectSelector": {}, "rules": [{"scope": "*"}]}]})
    bad = {**entry, "name": "short"}
    status = t.api.try_create({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": t.name("bad")}, "webhooks": [bad]}).rejects(422, reason="Invalid")
    assert "should be a domain with at least three segments separated by dots" in (
        status["message"]), status


@test
def the_first_known_review_version_is_used(t):
    install(t, "Mutating", webhook(t, "old", add_label("added", "yes"),
                                   admissionReviewVersions=["v2", "v1"]))
    t.create(config_map("a"))
    review, = t.webhooks.reviews(path(t, "old"))
    expect(review, {"apiVersion": "admission.k8s.io/v1"})
