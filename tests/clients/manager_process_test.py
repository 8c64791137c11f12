#!/usr/bin/python3
"""koord-manager as a process of its own beside a local cluster: its webhooks over HTTPS.

    tests/clients/manager_process_test.py build/bin/koord build/bin/koord-manager
"""

import base64
import http.client
import json
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
DEPLOY = FOLDER.parents[1] / "deploy" / "manager"
sys.path.insert(0, str(FOLDER))

from harness import program  # noqa: E402
from harness.api import Api, register_kind  # noqa: E402
from harness.kubectl import Kubectl  # noqa: E402
from run import LocalCluster, debian_kubectl  # noqa: E402

DEADLINE_S = 300
NAMESPACE = "koordinator-system"
MUTATING = "koordinator-mutating-webhook-configuration"
SECRET = {"kind": "Secret", "apiVersion": "v1",
          "metadata": {"name": "koordinator-webhook-certs", "namespace": NAMESPACE}}
PROFILE = """
apiVersion: config.koordinator.sh/v1alpha1
kind: ClusterColocationProfile
metadata: {name: batch}
spec:
  selector: {matchLabels: {app: etl}}
  qosClass: BE
  labels: {koordinator.sh/priority-class: koord-batch}
"""

POD_GROUP = """
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: g, namespace: default}
spec: {minMember: 2}
"""
QUOTA = """
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: q, namespace: default}
spec: {max: {cpu: "1"}}
"""

register_kind("ElasticQuota", "scheduling.sigs.k8s.io/v1alpha1", "elasticquotas", True)
register_kind("MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1",
              "mutatingwebhookconfigurations", False)


def wait_until(condition, what):
    return program.wait_until(condition, what, DEADLINE_S)[0]


def pod(name, namespace="default"):
    return json.dumps({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "etl"}},
        "spec": {"containers": [{"name": "main", "image": "i", "resources": {
            "requests": {"cpu": "500m", "memory": "1Gi"}}}]}})


class Manager:
    """A running koord-manager, called by its address: there is no network between pods here."""

    def __init__(self, binary, directory, cluster, webhook_port, arguments=()):
        self.metrics, self.health, self.secure = (program.free_port() for _ in range(3))
        self.token = cluster.admin_token()
        self.port = webhook_port
        self.log = directory / f"manager-{self.metrics}.log"
        environment = {**os.environ, "WEBHOOK_HOST": "127.0.0.1", "WEBHOOK_PORT": str(webhook_port),
                       "WEBHOOK_CERT_WRITER": "secret"}
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [binary, f"--kubeconfig={cluster.kubeconfig}",
                 f"--metrics-addr=127.0.0.1:{self.metrics}",
                 f"--health-probe-addr=127.0.0.1:{self.health}", "--bind-address=127.0.0.1",
                 f"--secure-port={self.secure}", *arguments],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def ready(self):
        return program.ask(self.health, "/readyz")[0] == 200

    def get(self, path):
        return program.ask_securely(self.secure, path, self.token)[1]

    def post(self, path, body, ca):
        """(status, text) of a review that somebody sends."""
        trust = ssl.create_default_context(cadata=ca)
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=120, context=trust)
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def shown_certificate(self):
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def end(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()


class ManagerProcess(unittest.TestCase):
    koord = manager = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="koord-manager-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.cluster = self.enterContext(LocalCluster(
            self.koord, self.directory, ("--nodes", "2", "--load", "flat", "--without", "manager")))
        self.api = Api(self.cluster.kubeconfig, self.directory)
        self.kubectl = Kubectl(debian_kubectl(), self.cluster.kubeconfig, self.directory)
        self.port = program.free_port()

    def install(self):
        self.kubectl.run(["apply", "-f", str(DEPLOY / "webhooks.yaml")]).succeeds()
        self.kubectl.run(["apply", "-f", str(DEPLOY / "rbac.yaml")]).succeeds()
        self.kubectl.run(["apply", "-f", "-"], input=PROFILE).succeeds()

    def start(self, *arguments):
        started = Manager(self.manager, self.directory, self.cluster, self.port, arguments)
        self.addCleanup(started.end)
        return started

    def start_ready(self, *arguments):
        started = self.start(*arguments)
        wait_until(started.ready, lambda: "it is ready\n" + started.log.read_text()[-2000:])
        return started

    def create(self, name, namespace="default"):
        return self.kubectl.run(["create", "-f", "-"], input=pod(name, namespace))

    def ca_bundle(self):
        webhooks = self.api.get("MutatingWebhookConfiguration", MUTATING)["webhooks"]
        bundles = {webhook["clientConfig"].get("caBundle") for webhook in webhooks}
        self.assertEqual(len(bundles), 1)
        return bundles.pop()

    def assert_coloured(self, name):
        made = self.api.get("Pod", name, "default")
        self.assertEqual(made["metadata"]["labels"].get("koordinator.sh/qosClass"), "BE")
        self.assertEqual(made["spec"]["containers"][0]["resources"]["requests"],
                         {"kubernetes.io/batch-cpu": "500", "kubernetes.io/batch-memory": "1Gi"})

    def test_colours_pods_and_comes_back_after_a_kill(self):
        self.install()
        manager = self.start_ready()
        self.create("first").succeeds()
        self.assert_coloured("first")
        self.assertIn("koord_manager_webhook_webhook_duration_milliseconds", manager.get("/metrics"))
        self.assertIn("quotaInfoMap", manager.get("/elasticQuota"))
        for port in (manager.metrics, manager.health):
            self.assertEqual(program.ask(port, "/metrics")[0], 403)
            self.assertEqual(program.ask(port, "/elasticQuota")[0], 403)
            self.assertEqual(program.ask(port, "/healthz")[0], 200)
        self.assertEqual(program.ask_securely(manager.secure, "/metrics", "no-such-token")[0], 401)
        for token in (manager.token, "no-such-token"):
            self.assertNotIn(token, manager.log.read_text())
        # Gates that are off have no webhook, and every bundle is the authority in the Secret.
        names = {webhook["name"] for webhook in
                 self.api.get("MutatingWebhookConfiguration", MUTATING)["webhooks"]}
        self.assertEqual(names, {"mpod-create.koordinator.sh", "mpod-update.koordinator.sh",
                                 "melasticquota.koordinator.sh"})
        authority = self.ca_bundle()
        self.assertEqual(authority, self.api.get("Secret", SECRET["metadata"]["name"], NAMESPACE)
                         ["data"]["ca-cert.pem"])

        manager.child.send_signal(signal.SIGKILL)
        manager.child.wait()
        refused = self.create("second")
        refused.exits(1)
        self.assertIn('failed calling webhook "mpod-create.koordinator.sh"', refused.stderr)
        for namespace in ("kube-system", NAMESPACE):  # or it could never come back
            self.create("exempt", namespace).succeeds()

        self.start_ready()
        self.create("second").succeeds()
        self.assert_coloured("second")
        self.assertEqual(self.ca_bundle(), authority, "what was made is used again")

    def test_mends_and_renews_certificates_while_it_runs(self):
        self.install()
        manager = self.start_ready()
        authority, before = self.ca_bundle(), manager.shown_certificate()
        # As if its time were over: there is nothing in it that could be used.
        self.api.patch(SECRET, {"data": {"cert.pem": None, "tls.crt": None}})
        wait_until(lambda: manager.shown_certificate() != before, "another certificate is shown")
        self.assertEqual(self.ca_bundle(), authority, "signed by the same authority")
        self.create("first").succeeds()
        self.assert_coloured("first")
        # Nobody else's authority is put into force for long.
        webhooks = self.api.get("MutatingWebhookConfiguration", MUTATING)["webhooks"]
        for webhook in webhooks:
            webhook["clientConfig"]["caBundle"] = ""
        self.api.patch({"kind": "MutatingWebhookConfiguration",
                        "apiVersion": "admissionregistration.k8s.io/v1",
                        "metadata": {"name": MUTATING}}, {"webhooks": webhooks})
        wait_until(lambda: self.ca_bundle() == authority, "the authority is put back")
        self.create("second").succeeds()

    def test_answers_what_is_malformed(self):
        self.install()
        manager = self.start_ready()
        ca = base64.b64decode(self.ca_bundle()).decode()
        for body, complaint in (
                ("", "empty"), ("{", "JSON"), ("[]", "AdmissionReview"),
                ('{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', "request"),
                ("[" * 100000, "")):
            status, text = manager.post("/mutate-pod", body, ca)
            self.assertEqual(status, 400, body[:40])
            answer = json.loads(text)["response"]
            self.assertFalse(answer["allowed"])
            self.assertEqual(answer["status"]["code"], 400)
            self.assertTrue(answer["status"]["message"])
            self.assertIn(complaint.lower(), answer["status"]["message"].lower())
        self.assertEqual(manager.post("/mutate-nothing", "{}", ca)[0], 404)

    def test_says_what_is_missing_and_ends(self):
        manager = self.start()
        self.assertEqual(manager.child.wait(DEADLINE_S), 1)
        log = manager.log.read_text()
        self.assertIn('koord-manager: namespace "koordinator-system" is not found: apply '
                      'deploy/manager/webhooks.yaml, which makes it', log)


class LocalManager(unittest.TestCase):
    """The manager inside of `koord up`, whose webhooks the API server calls over HTTPS, too."""

    koord = None

    def up(self, *arguments):
        temporary = tempfile.TemporaryDirectory(prefix="koord-manager-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        cluster = self.enterContext(LocalCluster(self.koord, self.directory,
                                                 ("--nodes", "2", *arguments)))
        self.api = Api(cluster.kubeconfig, self.directory)
        self.kubectl = Kubectl(debian_kubectl(), cluster.kubeconfig, self.directory)
        self.assertEqual(len(self.api.get("Node")["items"]), 2)

    def colour(self, name):
        """What a pod is made of by a profile that was there before it."""
        applied = self.kubectl.run(["apply", "-f", "-"], input=PROFILE)
        applied.succeeds()
        self.kubectl.run(["create", "-f", "-"], input=pod(name)).succeeds()
        return self.api.get("Pod", name, "default")["metadata"]["labels"]

    def colours(self):
        """Whether the manager has heard of the profile: by a pod that is not really made."""
        tried = self.api.try_create(json.loads(pod("trial")), {"dryRun": "All"})
        return tried.has_status(201).json()["metadata"]["labels"].get("koordinator.sh/qosClass")

    def test_webhooks_are_called_over_https(self):
        self.up()
        webhooks = self.api.get("MutatingWebhookConfiguration", MUTATING)["webhooks"]
        for webhook in webhooks:
            self.assertEqual(webhook["clientConfig"]["service"]["name"],
                             "koordinator-webhook-service")
            self.assertIn("BEGIN CERTIFICATE",
                          base64.b64decode(webhook["clientConfig"]["caBundle"]).decode())
        self.kubectl.run(["apply", "-f", "-"], input=PROFILE).succeeds()
        self.assertEqual(wait_until(self.colours, "the profile is known"), "BE")
        self.assertEqual(self.colour("p").get("koordinator.sh/qosClass"), "BE")
        pinned = json.loads(pod("pinned"))
        pinned["metadata"]["annotations"] = {"scheduling.koordinator.sh/resource-status": "{}"}
        refused = self.kubectl.run(["create", "-f", "-"], input=json.dumps(pinned))
        refused.exits(1)
        self.assertIn('only the scheduler may set it, not user "kubernetes-admin"', refused.stderr)

    def test_what_has_no_effect_is_said(self):
        self.up()
        gang = json.loads(pod("gang"))
        gang["metadata"]["labels"]["pod-group.scheduling.sigs.k8s.io/name"] = "g"
        made = self.kubectl.run(["create", "-f", "-"], input=json.dumps(gang))
        made.succeeds()
        group = self.kubectl.run(["create", "-f", "-"], input=POD_GROUP)
        group.succeeds()
        for words in (made.stderr, group.stderr):
            self.assertIn("Warning: ", words)
            self.assertIn("has no effect in this version", words)

    def test_only_the_api_server_charges_quotas(self):
        """Its certificate is asked for and shown: otherwise no pod could be created."""
        self.up("--manager-flag=--feature-gates=EnableQuotaAdmission=true")
        self.kubectl.run(["create", "-f", "-"], input=QUOTA).succeeds()
        charged = json.loads(pod("charged"))
        charged["metadata"]["labels"]["quota.scheduling.koordinator.sh/name"] = "q"
        self.kubectl.run(["create", "-f", "-"], input=json.dumps(charged)).succeeds()
        annotations = self.api.get("ElasticQuota", "q", "default")["metadata"]["annotations"]
        self.assertEqual(json.loads(annotations["quota.scheduling.koordinator.sh/child-request"]),
                         {"cpu": "500m"})
        self.kubectl.run(["delete", "pod", "charged"]).succeeds()
        wait_until(lambda: json.loads(
            self.api.get("ElasticQuota", "q", "default")["metadata"]["annotations"]
            ["quota.scheduling.koordinator.sh/child-request"]) == {"cpu": "0"}, "it is given back")

    def test_flags_are_passed_on(self):
        self.up("--manager-flag=--feature-gates=PodMutatingWebhook=false",
                "--manager-flag=--trust-pod-annotations")
        self.assertNotIn("koordinator.sh/qosClass", self.colour("p"))

    def test_it_can_be_left_out(self):
        self.up("--without", "webhooks")
        self.assertNotIn("koordinator.sh/qosClass", self.colour("p"))
        self.assertFalse(self.api.exists("MutatingWebhookConfiguration", MUTATING))


if __name__ == "__main__":
    ManagerProcess.koord = LocalManager.koord = sys.argv.pop(1)
    ManagerProcess.manager = sys.argv.pop(1)
    unittest.main()
